"""Over the network goes the whole tensor, and not the piece of one GPU."""

from specs import Link

from ..collectives import Algorithm, Kind
from ..collectives import collective_time_s as right

EXERCISE = "collective_time_s"
HINT = "Inside the node the tensor was cut up: a GPU takes only its own piece, 1/gpus_per_node, over the network."
FAILS = ("test_a_hierarchical_all_reduce_sends_a_piece_over_the_network", "test_the_seconds_of_any_hierarchy")


def collective_time_s(
    kind: Kind,
    size_bytes: float,
    gpus: int,
    link: Link,
    algorithm: Algorithm = "ring",
    gpus_per_node: int | None = None,
    network: Link | None = None,
) -> float:
    if gpus_per_node is None or network is None:
        return right(kind, size_bytes, gpus, link, algorithm, gpus_per_node, network)
    inside = right(kind, size_bytes, gpus_per_node, link)
    right(kind, size_bytes, gpus, link, algorithm, gpus_per_node, network)
    return inside + right(kind, size_bytes, gpus // gpus_per_node, network)
