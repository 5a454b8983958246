"""What a student may read of an exercise: which claims hold, which do not and why, what is pending.

Of a hidden check the claim, the kit's own message and the hint are shown, never its name (a parametrised one
carries its case), its evidence or the mistake that staff see.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from grader.exports.plain import block, line, score
from grader.report import CheckResult, ExerciseResult, GradeReport, Outcome
from grader.table import WORDS

_CLAIM = 300


@dataclass(frozen=True)
class Finding:
    """A check that did not pass; several of one claim and message are one."""

    claim: str
    word: str
    message: str
    hint: str
    hidden: bool
    pending: bool
    more: int = 0
    """How many other checks say exactly this."""


def word(outcome: Outcome) -> str:
    """`timed out`, `needs a GPU`."""
    return WORDS[outcome][0]


def holds(exercise: ExerciseResult) -> list[str]:
    """The claims of the checks that passed, each once."""
    return _once(_claim(check) for check in exercise.checks if check.outcome is Outcome.PASSED)


def findings(exercise: ExerciseResult) -> list[Finding]:
    """The checks that did not pass, what they said, and how often; none of an exercise that was not begun."""
    if exercise.outcome is Outcome.TODO:
        return []
    found: dict[tuple[str, str, str, str, bool], int] = {}
    pending = set()
    for check in exercise.checks:
        if check.outcome is Outcome.PASSED:
            continue
        message = block(check.message)
        if check.outcome is Outcome.TODO and not message:
            message = "still to be written"
        key = (_claim(check), word(check.outcome), message, line(check.hint, 600), check.hidden)
        found[key] = found.get(key, 0) + 1
        if check.outcome.pending:
            pending.add(key)
    told: set[str] = set()
    result = []
    for key, count in found.items():
        claim, outcome, message, hint, hidden = key
        shown = "" if hint in told else hint  # once is enough on one page
        told.add(hint)
        result.append(Finding(claim, outcome, message, shown, hidden, key in pending, count - 1))
    return result


def as_text(exercise: ExerciseResult, limit: int = 4000) -> str:
    """All of it as plain text, for a platform that shows a test's output."""
    passed = sum(check.outcome is Outcome.PASSED for check in exercise.checks)
    lines = [f"{passed} of {len(exercise.checks)} checks passed"] if exercise.checks else []
    if exercise.outcome is Outcome.TODO:
        lines.append(
            f"still to be written: {line(exercise.todo)}" if exercise.todo else "still to be written"
        )
    if exercise.pending_points:
        lines.append(f"{score(exercise.pending_points)} points pending: neither earned nor lost")
    for each in findings(exercise):
        more = f" ({each.more + 1} checks)" if each.more else ""
        lines.append(f"{each.word}{' (hidden check)' if each.hidden else ''}: {each.claim}{more}")
        lines += [f"  {said}" for said in each.message.splitlines()]
        if each.hint:
            lines.append(f"  hint: {each.hint}")
    return block("\n".join(lines), limit)


def summary(report: GradeReport) -> str:
    """The report's points in one line, and what is still open."""
    if report.error:
        return f"could not be graded: {line(report.error, 400)}"
    extra = sum(each.points for each in report.exercises if each.extra_credit)
    text = f"{score(report.points - extra)} of {score(report.max_points)} points"
    if extra:
        text += f" and {score(extra)} extra"
    if report.pending_points:
        text += f", {score(report.pending_points)} pending: neither earned nor lost, the grade is provisional"
    return text


def wholly_pending(exercise: ExerciseResult) -> bool:
    """Nothing of it could be decided."""
    return exercise.points == 0 and exercise.pending_points >= exercise.max_points


def _claim(check: CheckResult) -> str:
    return line(check.claim, _CLAIM) or ("a hidden check" if check.hidden else line(check.name))


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
