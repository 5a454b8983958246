"""A GPU counts as twice as fast as it is: the rate with sparsity."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = 'Your GPU computes twice as fast as it does: the headline rate is the sparse one. `peak_flops("bf16")` is dense as it is.'
FAILS = (
    "test_a_small_batch_is_cut_by_matmuls_where_the_link_is_fast",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, flops_factor=2)
