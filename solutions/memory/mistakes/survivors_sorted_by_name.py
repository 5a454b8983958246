"""The surviving cards are sorted by name."""

from collections.abc import Sequence

from specs import Gpu

EXERCISE = "memory_budget"
HINT = "The right cards in the wrong order: keep the order in which they were given."
FAILS = (
    "test_7b_costs_144_5_gb_and_no_card_of_80_gb_survives",
    "test_7b_survives_on_an_h200_and_larger",
    "test_a_card_holds_what_a_program_can_see_not_what_its_label_says",
)


def surviving_gpus(total_bytes: float, gpus: Sequence[Gpu]) -> list[str]:
    return sorted(gpu.name for gpu in gpus if gpu.memory_bytes >= total_bytes)
