"""The layer that ZeRO-3 gathers is not counted."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = "Under ZeRO-3 the layer at work is gathered in full, with its gradient: 4·N/layers bytes besides the share."
FAILS = (
    "test_what_fits_whole_is_copied_and_what_does_not_is_sharded",
    "test_a_small_batch_is_cut_by_matmuls_where_the_link_is_fast",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, gathered_factor=0)
