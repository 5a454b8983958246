"""Activations are not counted."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = "You count the state alone. The activations of a sequence have to be on the GPU too."
FAILS = (
    "test_what_fits_whole_is_copied_and_what_does_not_is_sharded",
    "test_a_small_batch_is_cut_by_matmuls_where_the_link_is_fast",
    "test_what_a_slow_link_or_a_node_cannot_carry_is_cut_by_depth",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, kept_factor=0)
