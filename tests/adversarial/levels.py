"""Grades variants at the levels `process` and `user`, each by a command of its own in a container of its own.

At these levels an attack may do what the sandbox stops: end the grader, read what lies beside it. So no two share
anything, and the container keeps this machine out of it.
"""

import compileall
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import grader
from grader.refusal import SOME_NOT_GRADED
from grader.report import GradeReport
from grader.sandbox import Level
from grader.summary import Row, note_on
from tests.adversarial.case import Case, Variant
from tests.adversarial.container import run_inside
from tests.adversarial.grading import SEED, id_of
from tests.adversarial.table import Line, lines

_PARTS = ("specs", "kernels_ref", "grader", "solutions", "assignments", "pyproject.toml")
_SUITE = ("tests/adversarial", "tests/user_namespaces.py")
# As in the cohorts of the suite: running all mistakes of flash_forward takes a minute, and no case asks why.
_NOT_COPIED = shutil.ignore_patterns("__pycache__", "flash_*.py")
# Above what any grading takes on a busy machine; one that takes longer hangs.
_LONGEST_S, _TIMES_AS_LONG = 90.0, 6.0
_BUILDING_S = 60.0
ENDED = "ended the grader"


@dataclass(frozen=True)
class Seen:
    """What was found inside; `code` is None when the grader hung, `report` when there was none."""

    code: int | None
    report: str | None
    said: str


def grade_levels(
    cases: Sequence[Case],
    level: Level,
    jobs: int,
    saved: Path | None = None,
    tell: Callable[[Line], None] = lambda line: None,
) -> list[Line]:
    """A line for each variant, in order.

    Those that `saved` has are taken from there, and others added to it.

    Raises:
        ContainerFailed: a container could not start, or a case could not be built.
    """
    known = _known(saved, level)
    wanted = [(case, variant) for case in cases for variant in case.variants]
    todo = [(case, variant) for case, variant in wanted if id_of(case, variant) not in known]
    with tempfile.TemporaryDirectory(prefix="rooflab-levels-") as folder:
        checkout = copy_checkout(Path(folder).resolve() / "checkout") if todo else Path(folder)

        def one(pair: tuple[Case, Variant]) -> Line:
            line = grade_alone(checkout, *pair, level)
            if saved is not None:
                with saved.open("a", encoding="utf-8") as stream:
                    stream.write(_text_of(line) + "\n")
            tell(line)
            return line

        with ThreadPoolExecutor(jobs) as pool:
            # The longest first, so that none of them is alone at the end.
            fresh = pool.map(one, sorted(todo, key=lambda pair: -pair[1].takes_s))
            found = {id_of(line.case, line.variant): line for line in fresh}
    for case, variant in wanted:
        name = id_of(case, variant)
        if name not in found:
            found[name] = _line_of(known[name], case, variant)
    return [found[id_of(case, variant)] for case, variant in wanted]


def grade_alone(checkout: Path, case: Case, variant: Variant, level: Level) -> Line:
    """What became of one variant, graded in a container of its own."""
    longest_s = _LONGEST_S + _TIMES_AS_LONG * variant.takes_s
    words = (level, case.name, variant.name, id_of(case, variant), SEED.hex(), f"{longest_s:g}")
    answer = run_inside(checkout, "tests.adversarial.inside", words, longest_s + _BUILDING_S)
    seen = Seen(None, None, "the container did not answer") if answer is None else Seen(**json.loads(answer))
    return _judged(case, variant, level, seen)


def _judged(case: Case, variant: Variant, level: Level, seen: Seen) -> Line:
    name = id_of(case, variant)
    why = "hung" if seen.code is None else f"ended with {seen.code}"
    try:
        report = None if seen.report is None else GradeReport.model_validate_json(seen.report)
    except ValueError:
        why, seen = "left a report that cannot be read", replace(seen, code=None)
    if seen.code not in (0, SOME_NOT_GRADED):
        told = (f"the grader {why}: {seen.said.strip()[-300:]!r}",)
        return Line(case, variant, level, ENDED, "-", 0.0, 0.0, told, ended_the_grader=True)
    row = Row(name, report, note_on(report) if report else seen.said)
    (line,) = lines([replace(case, variants=(variant,))], {name: row}, level)
    return line


def copy_checkout(to: Path) -> Path:
    """A copy, so that editing meanwhile changes nothing, with its byte code, so that none of many gradings makes it."""
    original = Path(grader.__file__).resolve().parent.parent
    (to / "tests").mkdir(parents=True)
    for part in (*_PARTS, *_SUITE):
        if (original / part).is_dir():
            shutil.copytree(original / part, to / part, ignore=_NOT_COPIED)
        else:
            shutil.copy2(original / part, to / part)
    for part in ("specs", "kernels_ref", "grader", "tests"):
        compileall.compile_dir(to / part, quiet=2)
    return to


def _text_of(line: Line) -> str:
    told = {
        name: value
        for name, value in asdict(replace(line, case=None, variant=None)).items()
        if value is not None
    }
    return json.dumps({"case": line.case.name, "variant": line.variant.name, **told}, ensure_ascii=False)


def _line_of(told: Mapping[str, Any], case: Case, variant: Variant) -> Line:
    return Line(**{**told, "case": case, "variant": variant, "differs": tuple(told["differs"])})


def _known(saved: Path | None, level: Level) -> dict[str, Mapping[str, Any]]:
    """By `id_of` the variant."""
    if saved is None or not saved.exists():
        return {}
    found: Iterable[Mapping[str, Any]] = map(json.loads, saved.read_text(encoding="utf-8").splitlines())
    return {f"{each['case']}-{each['variant']}": each for each in found if each["level"] == level}
