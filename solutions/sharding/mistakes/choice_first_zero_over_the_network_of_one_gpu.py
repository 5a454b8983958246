"""A ring over many nodes goes at the speed of one GPU's network."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = "Your ring goes at the speed of one GPU's network. The GPUs of a node pass on a piece each, over their own: `ring_bytes_per_s` of all n."
FAILS = (
    "test_a_small_batch_is_cut_by_matmuls_where_the_link_is_fast",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, ring_link_bytes_per_s=cluster.hop_bytes_per_s(cluster.gpus))
