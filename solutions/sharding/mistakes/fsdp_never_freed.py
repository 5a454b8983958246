"""The gathered parameters stay after forward, although backward gathers them again."""

from ._blocks import Faulty

EXERCISE = "fsdp"
HINT = (
    "After the block has run somebody still holds its whole parameters: a graph, a list, an attribute. "
    "Then every block ends up whole on every rank."
)
FAILS = (
    "test_no_more_than_one_block_is_whole",
    "test_any_row_of_large_blocks",
)
SYMPTOMS = ("never_freed",)


class FullySharded(Faulty):
    fault = "never_freed"
