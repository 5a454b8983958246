"""Tensor parallelism is chosen whatever the link can carry."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = "You choose tensor parallelism without a look at the link. More ways than tp_limit allows, and the GPUs wait for it."
FAILS = (
    "test_what_a_slow_link_or_a_node_cannot_carry_is_cut_by_depth",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, tensor_hides_always=True)
