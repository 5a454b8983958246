"""The bandwidth is halved, as if it were that of both directions."""

from specs import Link

from ..collectives import Algorithm, Kind
from ..collectives import collective_time_s as right

EXERCISE = "collective_time_s"
HINT = "bandwidth_bytes_per_s is that of one direction already: do not halve it."
FAILS = (
    "test_an_h100_node_gathers_half_a_gib_in_a_millisecond",
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
    def halved(one: Link) -> Link:
        return one.model_copy(update={"bandwidth_bytes_per_s": one.bandwidth_bytes_per_s / 2})

    return right(kind, size_bytes, gpus, halved(link), algorithm, gpus_per_node, network and halved(network))
