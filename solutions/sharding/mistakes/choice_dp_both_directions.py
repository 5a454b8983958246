"""The link is taken at the sum of both directions."""

from ..choice import dp_critical_batch_tokens as right

EXERCISE = "overlap"
HINT = "You need half of the tokens: data sheets add both directions of a link, and a ring sends in one. `link_bytes_per_s` is one direction as it is."
FAILS = (
    "test_data_parallel_on_h100s_needs_2200_tokens_in_a_node_and_2475_beyond",
    "test_8_stages_need_an_eighth_of_the_tokens",
    "test_any_data_parallelism",
)


def dp_critical_batch_tokens(
    flops_per_s: float, link_bytes_per_s: float, replicas: int | None = None, stages: int = 1
) -> float:
    return right(flops_per_s, 2 * link_bytes_per_s, replicas, stages)
