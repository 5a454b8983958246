"""Returns plans that are no plans: other types, fields past the validator, numbers of thousands of digits.

Seen: a cost model that put a product of four huge sizes into its message raised, and left the points undecided.
Stopped by: `Plan` is validated again when it is sent, the check asks for the type first, and what cannot run or
does not fit counts 0 before a time is looked at.
"""

from pathlib import Path

from tests.adversarial.case import Build, Expected, Variant, write

ATTACK = "odd_plans"
EXERCISE = "sharding.plan"


def planned(answer: str) -> Build:
    """The right choice.py whose `plan` returns `answer`, made of the right plan."""

    def build(folder: Path, solutions: Path) -> Path:
        text = (solutions / "sharding" / "choice.py").read_text(encoding="utf-8")
        text += (
            "\n\nright = plan\n\n\ndef plan(gpt, batch, cluster):\n"
            f"    found = right(gpt, batch, cluster)\n    return {answer}\n"
        )
        return write(folder, {"sharding/choice.py": text})

    return build


def variant(name: str, answer: str, says: str) -> Variant:
    return Variant(name, planned(answer), Expected(says=says, never_in_hidden="GB on a GPU"), EXERCISE)


HUGE = "Plan(10**3900, 10**3900, 10**3900, 1, 1, 'none', 10**3900)"

VARIANTS = (
    variant("a_dict", "found.model_dump()", "is no Plan"),
    variant("huge", HUGE, "context is over 1e9"),
    variant("zero_gpus", "found.model_copy(update={'tensor': 0})", "cannot be sent"),
    variant("a_cost_for_a_plan", "plan_cost(gpt, batch, cluster, found)", "cannot be sent"),
    variant(
        "all_on_every_gpu", "Plan(cluster.gpus, 1, 1, 1, 0, 'none', batch // cluster.gpus)", "does not fit"
    ),
)
