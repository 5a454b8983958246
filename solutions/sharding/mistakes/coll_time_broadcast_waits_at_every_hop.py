"""A broadcast down the line waits for the whole tensor at every GPU."""

from specs import Link

from ..collectives import Algorithm, Kind
from ..collectives import collective_time_s as right

EXERCISE = "collective_time_s"
HINT = (
    "Down the line the next link starts on the first piece while the rest is under way: the bytes count once."
)
FAILS = ("test_a_broadcast_down_the_line_and_a_message", "test_the_seconds_of_any_ring_or_tree")


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
    if kind == "broadcast" and algorithm == "ring":
        return (gpus - 1) * (link.latency_s + size_bytes / link.bandwidth_bytes_per_s)
    return got
