"""A ring all-reduce takes n - 1 steps."""

from specs import Link

from ..collectives import Algorithm, Kind
from ..collectives import collective_time_s as right

EXERCISE = "collective_time_s"
HINT = "Your ring stops when every piece is summed on one GPU. It takes as many steps again to hand the sums out."
FAILS = (
    "test_an_h100_node_gathers_half_a_gib_in_a_millisecond",
    "test_every_step_of_a_ring_pays_the_latency",
    "test_a_tree_has_few_steps_and_large_messages",
    "test_a_hierarchical_all_reduce_sends_a_piece_over_the_network",
    "test_the_seconds_of_any_ring_or_tree",
)


def collective_time_s(
    kind: Kind,
    size_bytes: float,
    gpus: int,
    link: Link,
    algorithm: Algorithm = "ring",
    gpus_per_node: int | None = None,
    network: Link | None = None,
) -> float:
    got = right(kind, size_bytes, gpus, link, algorithm, gpus_per_node, network)
    return got / 2 if kind == "all_reduce" and algorithm == "ring" and gpus_per_node is None else got
