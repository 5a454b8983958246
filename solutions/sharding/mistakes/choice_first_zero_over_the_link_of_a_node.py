"""ZeRO's ring runs at the speed of a node's link wherever it goes."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = (
    "Your ZeRO runs over the link in the node. A ring over more GPUs than a node holds goes over the network."
)
FAILS = (
    "test_a_small_batch_is_cut_by_matmuls_where_the_link_is_fast",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, ring_link_bytes_per_s=cluster.node_bytes_per_s)
