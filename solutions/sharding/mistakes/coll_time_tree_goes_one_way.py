"""A tree all-reduce goes up the tree and not down again."""

from specs import Link

from ..collectives import Algorithm, Kind
from ..collectives import collective_time_s as right

EXERCISE = "collective_time_s"
HINT = "At the top of the tree only the root has the sum. Everyone else waits for the way down."
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
    return got / 2 if kind == "all_reduce" and algorithm == "tree" else got
