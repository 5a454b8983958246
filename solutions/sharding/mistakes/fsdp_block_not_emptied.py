"""The block keeps its own parameters beside the shard."""

from ._blocks import Faulty

EXERCISE = "fsdp"
HINT = (
    "After the construction the block's parameters still live, whole, beside the shard. Give them empty "
    "data, or take them off the module."
)
FAILS = (
    "test_no_more_than_one_block_is_whole",
    "test_any_row_of_large_blocks",
)
SYMPTOMS = ("block_kept",)


class FullySharded(Faulty):
    fault = "block_kept"
