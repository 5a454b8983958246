"""The latency is paid once for the whole collective."""

from specs import Link

from ..collectives import Algorithm, Kind
from ..collectives import collective_time_s as right

EXERCISE = "collective_time_s"
HINT = "Each step of a ring waits for the one before: every step pays the latency, not the collective once."
FAILS = (
    "test_every_step_of_a_ring_pays_the_latency",
    "test_a_tree_has_few_steps_and_large_messages",
    "test_a_broadcast_down_the_line_and_a_message",
    "test_a_hierarchical_all_reduce_sends_a_piece_over_the_network",
    "test_the_seconds_of_any_ring_or_tree",
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
    free = link.model_copy(update={"latency_s": 0})
    free_network = network and network.model_copy(update={"latency_s": 0})
    moved = right(kind, size_bytes, gpus, free, algorithm, gpus_per_node, free_network)
    if gpus == 1 and kind != "send":
        return moved
    between = network.latency_s if network and gpus_per_node and gpus > gpus_per_node else 0
    return moved + between + (0 if gpus_per_node == 1 else link.latency_s)
