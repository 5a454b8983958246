"""The hierarchy is ignored: one ring of all GPUs over the network."""

from specs import Link

from ..collectives import Algorithm, Kind
from ..collectives import collective_time_s as right

EXERCISE = "collective_time_s"
HINT = "You run one ring over all GPUs at the speed of the network. Inside a node the link is faster: use it first."
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
    return got if network is None or gpus_per_node is None else right(kind, size_bytes, gpus, network)
