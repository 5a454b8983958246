"""The backward takes two FLOPs a parameter and token."""

from ..choice import dp_critical_batch_tokens as right

EXERCISE = "overlap"
HINT = "Your backward takes 2 FLOPs a parameter and token. It makes two gradients, that of the weights and that of the inputs: 4."
FAILS = (
    "test_data_parallel_on_h100s_needs_2200_tokens_in_a_node_and_2475_beyond",
    "test_8_stages_need_an_eighth_of_the_tokens",
    "test_any_data_parallelism",
)


def dp_critical_batch_tokens(
    flops_per_s: float, link_bytes_per_s: float, replicas: int | None = None, stages: int = 1
) -> float:
    return 2 * right(flops_per_s, link_bytes_per_s, replicas, stages)
