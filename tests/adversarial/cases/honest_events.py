"""Right answers that change the events they are given, or return what is right in another form.

Every call gets events of its own: what a submission does to them reaches neither the judge nor its next call.
"""

from pathlib import Path

from tests.adversarial.case import Build, Expected, Variant, write

HONEST = "honest_events"
EXERCISE = "profiling.busy_intervals"
FULL = Expected(outcome=("passed",), points=10.0)


def intervals(body: str) -> Build:
    """The right intervals.py whose `busy_intervals` runs `body`, which may call the right one."""

    def build(folder: Path, solutions: Path) -> Path:
        text = (solutions / "profiling" / "intervals.py").read_text(encoding="utf-8")
        text += f"\n\nright = busy_intervals\n\n\ndef busy_intervals(events):\n    {body}\n"
        return write(folder, {"profiling/intervals.py": text})

    return build


CLEARS = "found = right(events); events.clear(); return found"
RENAMES = "found = right(events); [each.update(name='', dur=-1.0) for each in events]; return found"
NUMPY = "import numpy; return [(numpy.int64(a), numpy.int64(b)) for a, b in right(events)]"

VARIANTS = (
    Variant("clears", intervals(CLEARS), FULL, EXERCISE),
    Variant("renames", intervals(RENAMES), FULL, EXERCISE),
    Variant("lists_for_pairs", intervals("return [list(each) for each in right(events)]"), FULL, EXERCISE),
    Variant("tuple_for_list", intervals("return tuple(right(events))"), FULL, EXERCISE),
    Variant("numpy_integers", intervals(NUMPY), FULL, EXERCISE),
)
