"""The label is taken for the memory of a card, in GiB for GB."""

import math
from collections.abc import Sequence

from specs import Gpu

EXERCISE = "memory_budget"
HINT = "You take the label for GiB. That is near, but a program sees less: memory_bytes."
FAILS = (
    "test_a_card_holds_what_a_program_can_see_not_what_its_label_says",
    "test_cards_come_whole",
    "test_survivors_among_any_cards",
    "test_how_many_of_any_card",
)


def surviving_gpus(total_bytes: float, gpus: Sequence[Gpu]) -> list[str]:
    return [gpu.name for gpu in gpus if gpu.memory_label_gb * 2**30 >= total_bytes]


def gpus_needed(total_bytes: float, gpu: Gpu) -> int:
    return max(1, math.ceil(total_bytes / (gpu.memory_label_gb * 2**30)))
