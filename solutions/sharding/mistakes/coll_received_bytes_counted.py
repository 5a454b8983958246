"""What a GPU receives is added to what it sends."""

from ..collectives import Algorithm, Kind
from ..collectives import collective_bytes as right

EXERCISE = "collective_bytes"
HINT = "You count what comes in as well as what goes out. Links carry both at once; only what a GPU sends counts."
FAILS = (
    "test_the_factors_of_a_ring_are_those_of_nccl_tests",
    "test_bytes_that_do_not_divide_are_not_rounded",
    "test_a_broadcast_and_a_message_are_sent_whole",
    "test_the_root_of_a_tree_sends_at_every_level",
    "test_one_gpu_alone_sends_nothing",
    "test_the_bytes_of_any_ring",
    "test_the_bytes_of_any_tree",
)


def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    return 2 * right(kind, size_bytes, gpus, algorithm)
