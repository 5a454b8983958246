"""ZeRO is chosen whether its traffic hides or not."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = "You choose ZeRO as soon as it fits. With few tokens a GPU waits for weights longer than it computes: compare tokens a GPU with C/W."
FAILS = (
    "test_a_small_batch_is_cut_by_matmuls_where_the_link_is_fast",
    "test_what_a_slow_link_or_a_node_cannot_carry_is_cut_by_depth",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, zero_hides_always=True)
