"""The state is taken as the weights."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = "You count 2 bytes a parameter. Training carries 16: gradients, master copy and two moments as well."
FAILS = (
    "test_what_fits_whole_is_copied_and_what_does_not_is_sharded",
    "test_a_small_batch_is_cut_by_matmuls_where_the_link_is_fast",
    "test_what_a_slow_link_or_a_node_cannot_carry_is_cut_by_depth",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, bytes_a_parameter=2)
