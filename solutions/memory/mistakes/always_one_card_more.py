"""One card too many is asked for when the bill fills a whole number of cards exactly."""

from specs import Gpu

EXERCISE = "memory_budget"
HINT = "When the bill fills your cards exactly you ask for one more."
FAILS = ("test_cards_come_whole", "test_how_many_of_any_card")


def gpus_needed(total_bytes: float, gpu: Gpu) -> int:
    return int(total_bytes // gpu.memory_bytes) + 1
