"""Returns breakdowns that are none: other types, times that are no numbers.

Seen: a judge that did arithmetic with a submission's numbers died of a NaN where an integer was needed.
Stopped by: what cannot be rounded to nanoseconds is left to the comparison, which refuses it.
"""

from pathlib import Path

from tests.adversarial.case import Build, Expected, Variant, write

ATTACK = "odd_breakdowns"
EXERCISE = "profiling.step_breakdown"
BESIDE = ("kernels.py", "intervals.py")


def steps(answer: str) -> Build:
    """The right breakdown.py whose `step_breakdown` returns `answer`, made of the right steps."""

    def build(folder: Path, solutions: Path) -> Path:
        files = {
            f"profiling/{name}": (solutions / "profiling" / name).read_text(encoding="utf-8")
            for name in BESIDE
        }
        text = (solutions / "profiling" / "breakdown.py").read_text(encoding="utf-8")
        text += "\n\nright = step_breakdown\n\n\ndef step_breakdown(events, kinds=None):\n"
        text += f"    steps = right(events, kinds)\n    return {answer}\n"
        return write(folder, {**files, "profiling/breakdown.py": text})

    return build


def changed(fields: str) -> str:
    return f"[each.model_copy(update={{{fields}}}) for each in steps]"


def variant(name: str, answer: str, says: str) -> Variant:
    return Variant(name, steps(answer), Expected(says=says), EXERCISE, takes_s=6.0)


VARIANTS = (
    variant("nan", changed("'duration_s': float('nan')"), "is no answer"),
    variant("huge", changed("'duration_s': 10 ** 3990"), "duration_s"),
    variant("texts", "[{**each.model_dump(), 'duration_s': '1'} for each in steps]", "a number is needed"),
    variant("a_dict", "{each.step: each for each in steps}", "a list of StepBreakdown is needed"),
)
