"""Returns shares that are no shares: other types, names that lie, numbers that break arithmetic, a call that hangs.

Seen: a checker that died of a tuple where it read a field left the points undecided.
Stopped by: `GpuShare` refuses what does not fit when it is built or sent, and a check asks for the type first.
"""

from pathlib import Path

from tests.adversarial.case import Build, Expected, Variant, write

ATTACK = "odd_shares"
EXERCISE = "sharding.data_parallel"


def share(answer: str, before: str = "") -> Build:
    """The right cuts.py whose `data_parallel` returns `answer`, made of the right one's share."""

    def build(folder: Path, solutions: Path) -> Path:
        text = (solutions / "sharding" / "cuts.py").read_text(encoding="utf-8")
        text += "\n\nright = data_parallel\n\n\ndef data_parallel(gpt, batch, gpus):\n"
        text += f"    share = right(gpt, batch, gpus)\n    {before}\n    return {answer}\n"
        return write(folder, {"sharding/cuts.py": text})

    return build


def variant(name: str, answer: str, says: str, before: str = "") -> Variant:
    return Variant(name, share(answer, before), Expected(says=says), EXERCISE)


def held(value: str) -> str:
    """A share whose activations are `value`, and that sends nothing."""
    return f"GpuShare(HeldBytes(1, 2, 3, {value}), share.replicated, share.sharded, ())"


VARIANTS = (
    variant("a_dict", "share.model_dump()", "a GpuShare is needed"),
    variant("not_validated", "share.model_copy(update={'held': 1})", "cannot be sent"),
    variant(
        "of_its_own",
        "Mine(*dict(share).values())",
        "of your own cannot be sent",
        "Mine = type('GpuShare', (GpuShare,), {})",
    ),
    variant("nan", held("float('nan')"), "is no answer"),
    variant("huge", held("10 ** 3990"), "activations"),
    variant(
        "many_uses",
        "share.model_copy(update={'collectives': share.collectives * 40000})",
        "too large to be sent",
    ),
)
