"""Returns schedules that are no schedules: other types, times that break arithmetic, passes by the ten thousand.

Seen: a simulator that sorted what it was given died of a None among the times, and took minutes over many.
Stopped by: the simulator reads types and sizes first and refuses in one line; it never moves or mends a pass. The
honest part, the bubble and the peaks in the same file, is another exercise and keeps its points.
"""

from pathlib import Path

from tests.adversarial.case import Build, Expected, Variant, write

ATTACK = "odd_schedules"
EXERCISE = "sharding.pipeline_schedule"


def schedule(answer: str) -> Build:
    """The right bubbles.py whose `pipeline_schedule` returns `answer`, made of the right entries."""

    def build(folder: Path, solutions: Path) -> Path:
        text = (solutions / "sharding" / "bubbles.py").read_text(encoding="utf-8")
        text += (
            "\n\nright = pipeline_schedule\n\n\n"
            "def pipeline_schedule(kind, stages, microbatches, forward=1, backward=2):\n"
            "    entries = right(kind, stages, microbatches, forward, backward)\n"
            f"    return {answer}\n"
        )
        return write(folder, {"sharding/bubbles.py": text})

    return build


def variant(name: str, answer: str, says: str, slow: bool = False) -> Variant:
    expected = Expected(says=says, never_in_hidden="microbatch 0")
    return Variant(name, schedule(answer), expected, EXERCISE, slow=slow)


VARIANTS = (
    variant("not_a_list", "{entry: 1 for entry in entries}", "a list of (time, stage, microbatch"),
    variant("a_time_of_nan", "[(float('nan'), *entry[1:]) for entry in entries]", "no number from 0 upwards"),
    variant("a_time_of_none", "[(None, *entry[1:]) for entry in entries]", "no number from 0 upwards"),
    variant(
        "true_for_a_stage", "[(t, True, i, k) for t, s, i, k in entries]", "whole numbers from 0 upwards"
    ),
    variant("everything_at_once", "[(0, *entry[1:]) for entry in entries]", "one thing at a time"),
    variant("a_pass_too_many", "entries + entries[-1:]", "is there twice"),
    variant("thirty_thousand", "entries * (1 + 30_000 // len(entries))", "can be judged", slow=True),
)
