"""The hierarchical all-reduce ends without the all-gather inside the node."""

from specs import Link

from ..collectives import Algorithm, Kind
from ..collectives import collective_time_s as right

EXERCISE = "collective_time_s"
HINT = (
    "When the network is done, each GPU has the sum of its own piece only. The node still has to gather them."
)
FAILS = (
    "test_a_hierarchical_all_reduce_sends_a_piece_over_the_network",
    "test_the_seconds_of_any_hierarchy",
    "test_one_node_and_nodes_of_one_gpu_are_flat_rings",
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
    if gpus_per_node is None:
        return got
    return got - right("all_gather", size_bytes, gpus_per_node, link)
