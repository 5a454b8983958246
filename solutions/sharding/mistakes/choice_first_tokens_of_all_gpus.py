"""The tokens of the whole step are compared, and not those of a GPU."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = "You compare the tokens of the whole step with the critical batch. It is tokens a GPU: divide by the GPUs."
FAILS = (
    "test_a_small_batch_is_cut_by_matmuls_where_the_link_is_fast",
    "test_what_a_slow_link_or_a_node_cannot_carry_is_cut_by_depth",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, tokens_factor=cluster.gpus)
