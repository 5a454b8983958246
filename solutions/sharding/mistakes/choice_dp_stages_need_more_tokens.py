"""More stages need more tokens."""

from ..choice import dp_critical_batch_tokens as right

EXERCISE = "overlap"
HINT = "With more stages you ask for more tokens a GPU. It has fewer gradients to reduce, and computes as much for each of its own tokens as before."
FAILS = (
    "test_8_stages_need_an_eighth_of_the_tokens",
    "test_any_data_parallelism",
)


def dp_critical_batch_tokens(
    flops_per_s: float, link_bytes_per_s: float, replicas: int | None = None, stages: int = 1
) -> float:
    return right(flops_per_s, link_bytes_per_s, replicas, 1) * stages
