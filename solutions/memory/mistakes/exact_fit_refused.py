"""A card that the bill fills exactly is refused."""

from collections.abc import Sequence

from specs import Gpu

EXERCISE = "memory_budget"
HINT = "A bill as large as the card's memory fits."
FAILS = ("test_a_card_holds_what_a_program_can_see_not_what_its_label_says", "test_survivors_among_any_cards")


def surviving_gpus(total_bytes: float, gpus: Sequence[Gpu]) -> list[str]:
    return [gpu.name for gpu in gpus if gpu.memory_bytes > total_bytes]
