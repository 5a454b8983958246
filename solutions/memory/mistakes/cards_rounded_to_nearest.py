"""The number of cards is rounded to the nearest."""

from specs import Gpu

EXERCISE = "memory_budget"
HINT = "You round to the nearest: even a small rest of the bill needs a card."
FAILS = ("test_cards_come_whole", "test_how_many_of_any_card")


def gpus_needed(total_bytes: float, gpu: Gpu) -> int:
    return max(1, round(total_bytes / gpu.memory_bytes))
