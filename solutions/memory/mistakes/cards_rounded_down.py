"""The number of cards is rounded down."""

from specs import Gpu

EXERCISE = "memory_budget"
HINT = "You round down, and the rest of the bill has no card."
FAILS = (
    "test_7b_costs_144_5_gb_and_no_card_of_80_gb_survives",
    "test_cards_come_whole",
    "test_how_many_of_any_card",
)


def gpus_needed(total_bytes: float, gpu: Gpu) -> int:
    return max(1, int(total_bytes // gpu.memory_bytes))
