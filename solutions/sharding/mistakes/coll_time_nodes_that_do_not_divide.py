"""GPUs that fill no whole number of nodes are accepted, and a part of a node left out."""

from specs import Link

from ..collectives import Algorithm, Kind
from ..collectives import collective_time_s as right

EXERCISE = "collective_time_s"
HINT = "With gpus_per_node that does not divide gpus some node is not full: raise a ValueError instead of dropping it."
FAILS = ("test_what_is_no_hierarchy_is_refused",)
SYMPTOMS = ("accepts 10 GPUs in nodes of 4",)


def collective_time_s(
    kind: Kind,
    size_bytes: float,
    gpus: int,
    link: Link,
    algorithm: Algorithm = "ring",
    gpus_per_node: int | None = None,
    network: Link | None = None,
) -> float:
    if gpus_per_node:
        gpus = max(gpus // gpus_per_node, 1) * gpus_per_node
    return right(kind, size_bytes, gpus, link, algorithm, gpus_per_node, network)
