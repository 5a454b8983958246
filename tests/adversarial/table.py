"""The table of all cases, from the expectations that the tests hold them to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.cohort import Row
from grader.sandbox import Level
from tests.adversarial.case import Case, Variant
from tests.adversarial.catalogue import ATTACKS, HONEST, numbers_of
from tests.adversarial.grading import id_of, problems


@dataclass(frozen=True)
class Line:
    """What became of one variant at one level."""

    case: Case
    variant: Variant
    level: Level
    outcome: str
    points: str
    earned: float
    took_s: float
    differs: tuple[str, ...]
    """How it differs from what the case expects."""
    ended_the_grader: bool = False
    """There is no report, nor would there be any of others."""

    @property
    def withstood(self) -> bool:
        """It left the grader running and earned no more than its honest part; an honest one earned all of it."""
        if self.ended_the_grader:
            return False
        wanted = self.variant.expect.points
        return self.earned == wanted if self.case.honest else self.earned <= wanted

    @property
    def verdict(self) -> str:
        """`ok`, `differs` where the words or the outcome are others, or `WRONG` where points are."""
        return ("ok" if not self.differs else "differs") if self.withstood else "WRONG"


def lines(cases: Sequence[Case], rows: Mapping[str, Row], level: Level) -> list[Line]:
    """A line for each variant."""
    return [
        _line(case, variant, rows[id_of(case, variant)], level) for case in cases for variant in case.variants
    ]


def _line(case: Case, variant: Variant, row: Row, level: Level) -> Line:
    differs = tuple(problems(variant, row))
    if row.report is None or row.report.error or not row.report.exercises:
        outcome = "refused" if row.report is None else "not graded"
        return Line(case, variant, level, outcome, "-", 0.0, 0.0, differs)
    (exercise,) = row.report.exercises
    points = f"{exercise.points:g}/{exercise.max_points:g}"
    took_s = row.report.duration_s
    return Line(case, variant, level, exercise.outcome, points, exercise.points, took_s, differs)


def text(found: Sequence[Line]) -> str:
    """Columns case, numbers on the list, level, outcome, points, seconds, verdict; below a wrong one why."""
    told = [("case", "number", "level", "outcome", "points", "s", "verdict")]
    shown = []
    for each in found:
        numbers = ", ".join(map(str, numbers_of(each.case.name, each.case.honest)))
        told.append(
            (
                f"{each.case.name}/{each.variant.name}",
                (f"honest {numbers}" if each.case.honest else numbers) or "beyond",
                each.level,
                each.outcome,
                each.points,
                f"{each.took_s:.0f}",
                each.verdict,
            )
        )
    widths = [max(len(row[column]) for row in told) for column in range(len(told[0]))]
    for row, each in zip(told, [None, *found], strict=True):
        shown.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if each is not None and each.verdict != "ok":
            shown += [f"    {problem}" for problem in each.differs]
    return "\n".join(shown)


def levels_table(by_level: Mapping[Level, Sequence[Line]]) -> str:
    """Markdown: for each number of both lists, how many of its submissions each level withstood."""
    names = list(by_level)
    shown = [
        f"| number | what | {' | '.join(names)} |",
        f"| --- | --- | {' | '.join('---' for _ in names)} |",
    ]
    for honest, entries in ((False, ATTACKS), (True, HONEST)):
        for number, (what, cases) in entries.items():
            cells = [_cell([each for each in by_level[name] if each.case.name in cases]) for name in names]
            if any(cells):
                shown.append(f"| {'honest ' if honest else ''}{number} | {what} | {' | '.join(cells)} |")
    beyond = {
        name: [each for each in found if not numbers_of(each.case.name, each.case.honest)]
        for name, found in by_level.items()
    }
    shown.append(f"| beyond | not on the lists | {' | '.join(_cell(beyond[name]) for name in names)} |")
    return "\n".join(shown)


def _cell(found: Sequence[Line]) -> str:
    """`all 5`, or `3 of 5, not: read_solution/by_path`."""
    if not found:
        return ""
    lost = [f"{each.case.name}/{each.variant.name}" for each in found if not each.withstood]
    if not lost:
        return f"all {len(found)}"
    return f"{len(found) - len(lost)} of {len(found)}, not {', '.join(lost)}"
