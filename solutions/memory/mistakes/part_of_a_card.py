"""The number of cards is not rounded at all."""

from specs import Gpu

EXERCISE = "memory_budget"
HINT = "Cards come whole, and there is always one."
FAILS = (
    "test_7b_costs_144_5_gb_and_no_card_of_80_gb_survives",
    "test_cards_come_whole",
    "test_how_many_of_any_card",
)


def gpus_needed(total_bytes: float, gpu: Gpu) -> float:
    return total_bytes / gpu.memory_bytes
