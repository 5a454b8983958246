"""The terminal's view of a report: one line an exercise, what went wrong below, points at the end."""

from collections.abc import Collection, Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from grader.printable import printable
from grader.report import CheckResult, ExerciseResult, GradeReport, Outcome

WORDS = {
    Outcome.PASSED: ("passed", "green"),
    Outcome.FAILED: ("failed", "red"),
    Outcome.TODO: ("todo", "yellow"),
    Outcome.CRASHED: ("crashed", "red"),
    Outcome.TIMED_OUT: ("timed out", "red"),
    Outcome.NEEDS_TORCH: ("needs torch", "cyan"),
    Outcome.NEEDS_TRITON: ("needs Linux", "cyan"),
    Outcome.NEEDS_GPU: ("needs a GPU", "cyan"),
    Outcome.INCONCLUSIVE: ("inconclusive", "cyan"),
    Outcome.INTEGRITY: ("integrity", "red"),
    Outcome.GRADER_ERROR: ("grader error", "magenta"),
    Outcome.NOT_GRADED: ("not graded", "cyan"),
}

_MOST_SHOWN = 4  # failures of one exercise: enough to see what they have in common


def points(value: float) -> str:
    """`7.5`, `10`, never `10.0`."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def print_report(
    report: GradeReport, console: Console | None = None, all_checks: Mapping[str, int] | None = None
) -> None:
    """Print one report for the person whose work it is: an exercise is one line of a terminal, never two.

    Args:
        report: what to print.
        console: where to; the terminal by default.
        all_checks: how many checks each exercise has. One of which fewer ran shows that and no points.
    """
    partly = _partly_run(report, all_checks or {})
    out = console or Console(highlight=False, soft_wrap=True)
    width = max((len(each.id) for each in report.exercises), default=10)
    for exercise in report.exercises:
        line = _line(exercise, width, partly.get(exercise.id, 0))
        if out.is_terminal:
            line.truncate(out.width, overflow="ellipsis")
        out.print(line)
        shown: set[tuple[str, str]] = set()
        untold = 0
        # A stub among finished functions is worth a line; an exercise not begun says so already.
        quiet = (Outcome.PASSED, Outcome.TODO) if exercise.outcome is Outcome.TODO else (Outcome.PASSED,)
        for check in exercise.checks:
            if check.outcome in quiet or (
                check.outcome.pending and exercise.outcome.pending and _reason(exercise)
            ):
                continue
            told = (check.message, check.hint)
            if told in shown or len(shown) == _MOST_SHOWN:
                untold += 1
                continue
            shown.add(told)
            out.print(Text(_indent(describe(check), "      ")))
        if untold:
            out.print(f"      and {untold} more {'checks' if untold > 1 else 'check'}", style="dim")
    if report.error:
        out.print(Text(f"  {printable(report.error, 400)}", style="magenta"))
    out.print(totals(report, partly), style="bold", markup=False)


def _partly_run(report: GradeReport, all_checks: Mapping[str, int]) -> dict[str, int]:
    """How many checks there are of each exercise of which some did not run."""
    ran = {exercise.id: len(exercise.checks) for exercise in report.exercises}
    return {name: number for name, number in all_checks.items() if ran.get(name, 0) < number}


def _line(exercise: ExerciseResult, width: int, all_checks: int) -> Text:
    word, colour = WORDS[exercise.outcome]
    line = Text(f"  {exercise.id:<{width}}  ")
    line.append(f"{word:<12}", style=colour)
    if all_checks:
        line.append(f"     {len(exercise.checks)} of {all_checks} checks ran")
    else:
        line.append(f" {points(exercise.points):>5} / {points(exercise.max_points)}")
    if exercise.extra_credit:
        line.append(" extra")
    if exercise.outcome is Outcome.TODO:
        line.append(f"  {printable(exercise.todo, 400)}", style="dim")
    elif exercise.pending_points and exercise.outcome.pending:
        line.append(f"  {_reason(exercise) or 'pending'}", style="dim")
    return line


def _reason(exercise: ExerciseResult) -> str:
    """Why an exercise is pending, where all its pending checks say the same and none is broken."""
    if exercise.outcome is Outcome.GRADER_ERROR:
        return ""
    reasons = {check.message for check in exercise.checks if check.outcome.pending and check.message}
    return printable(reasons.pop(), 200) if len(reasons) == 1 else ""


def describe(check: CheckResult) -> str:
    """One failed check: the claim, what happened, and the hint."""
    lines = [("hidden: " if check.hidden else "") + printable(check.claim, 400)]
    message = "still to be written" if check.outcome is Outcome.TODO and not check.message else check.message
    lines += ["  " + printable(line, 400) for line in message.splitlines()]
    if check.hint:
        lines.append(f"  hint: {printable(check.hint, 1000)}")
    return "\n".join(lines)


def totals(report: GradeReport, partly: Collection[str] = ()) -> str:
    """`12.5 of 100 points, 10 pending (self-check: visible tests only)`; exercises run `partly` earn nothing."""
    whole = [each for each in report.exercises if each.id not in partly]
    base = sum(each.points for each in whole if not each.extra_credit)
    most = sum(each.max_points for each in whole if not each.extra_credit)
    extra = sum(each.points for each in whole if each.extra_credit)
    pending = sum(each.pending_points for each in whole)
    text = f"  {points(base)} of {points(most)} points" if whole or not partly else "  no points"
    if extra:
        text += f" and {points(extra)} extra"
    if pending:
        text += f", {points(pending)} pending"
    if partly:
        text += ", part of the checks only"
    if report.kind == "self-check":
        text += " (self-check: visible tests only)"
    return text


def _indent(text: str, by: str) -> str:
    return "\n".join(by + line for line in text.splitlines())


def print_cohort(rows: Sequence[tuple[str, GradeReport | None, str]], console: Console) -> None:
    """Print one line a submission: id, points by assignment, total, what is pending or went wrong."""
    from rich.table import Table  # only the cohort needs it

    assignments: list[str] = []
    for _, report, _ in rows:
        for exercise in report.exercises if report else ():
            name = exercise.id.split(".")[0]
            if name not in assignments:
                assignments.append(name)
    table = Table(show_edge=False, pad_edge=False, box=None, header_style="bold")
    table.add_column("submission", overflow="fold")
    for name in assignments:
        table.add_column(name, justify="right")
    table.add_column("extra", justify="right")
    table.add_column("pending", justify="right")
    table.add_column("note", overflow="fold")
    for name, report, note in rows:
        who = escape(printable(name))
        if report is None or report.error:  # no grade: neither points nor zero
            table.add_row(who, *["-"] * (len(assignments) + 2), Text(printable(note, 2000), style="red"))
            continue
        cells = []
        for assignment in assignments:
            own = [each for each in report.of(assignment) if not each.extra_credit]
            most = sum(each.max_points for each in own)
            cells.append(f"{points(sum(each.points for each in own))} / {points(most)}" if own else "-")
        extra = sum(each.points for each in report.exercises if each.extra_credit)
        why = Text(printable(note, 2000))
        table.add_row(who, *cells, points(extra), points(report.pending_points), why)
    console.print(table)
