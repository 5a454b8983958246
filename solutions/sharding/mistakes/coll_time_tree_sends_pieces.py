"""A tree sends a piece of the tensor at each level."""

from specs import Link

from ..collectives import Algorithm, Kind
from ..collectives import collective_time_s as right

EXERCISE = "collective_time_s"
HINT = "A tree does not cut the tensor up: each level sends all of it. That is why it loses on large ones."
FAILS = ("test_a_tree_has_few_steps_and_large_messages", "test_the_seconds_of_any_ring_or_tree")


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
    return right(kind, size_bytes / gpus, gpus, link, algorithm) if algorithm == "tree" else got
