"""Tensor parallelism goes over all GPUs."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = "Your tensor group goes over all GPUs. It stays in one node: the network cannot carry a layer's activations in time."
FAILS = (
    "test_a_small_batch_is_cut_by_matmuls_where_the_link_is_fast",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, ways=cluster.gpus)
