"""ZeRO shards the optimizer alone."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = "You shard master copy and moments only, which is ZeRO-1. ZeRO-3 shards gradients and weights too: all 16 bytes over n."
FAILS = (
    "test_what_fits_whole_is_copied_and_what_does_not_is_sharded",
    "test_a_small_batch_is_cut_by_matmuls_where_the_link_is_fast",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, zero_alone_halves=True)
