"""Shards are rounded down, and the last elements are lost."""

from ._blocks import Faulty

EXERCISE = "fsdp"
HINT = (
    "Your shards are too short: ⌊N / ranks⌋ elements for each rank leave a remainder that nobody has. "
    "Round up and pad with zeros."
)
FAILS = (
    "test_blocks_that_do_not_divide_and_a_batch_of_one",
    "test_any_blocks",
)
SYMPTOMS = ("remainder_dropped",)


class FullySharded(Faulty):
    fault = "remainder_dropped"
