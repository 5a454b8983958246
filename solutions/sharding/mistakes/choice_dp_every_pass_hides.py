"""Forward and backward hide the all-reduce."""

from ..choice import dp_critical_batch_tokens as right

EXERCISE = "overlap"
HINT = "You let the forward hide the all-reduce too. There are no gradients before the backward, which takes 4 FLOPs a parameter and token."
FAILS = (
    "test_data_parallel_on_h100s_needs_2200_tokens_in_a_node_and_2475_beyond",
    "test_8_stages_need_an_eighth_of_the_tokens",
    "test_any_data_parallelism",
)


def dp_critical_batch_tokens(
    flops_per_s: float, link_bytes_per_s: float, replicas: int | None = None, stages: int = 1
) -> float:
    return right(flops_per_s, link_bytes_per_s, replicas, stages) * 4 / 6
