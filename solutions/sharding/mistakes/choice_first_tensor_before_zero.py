"""Tensor parallelism is tried before ZeRO."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = "You reach for tensor parallelism where ZeRO works. It is the third of the four: it sends activations in every layer, and nothing hides them for free."
FAILS = (
    "test_a_small_batch_is_cut_by_matmuls_where_the_link_is_fast",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, tensor_first=True)
