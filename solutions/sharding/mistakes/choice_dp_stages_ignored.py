"""Pipeline stages change nothing."""

from ..choice import dp_critical_batch_tokens as right

EXERCISE = "overlap"
HINT = "You do not look at `stages`. A GPU of a pipeline holds only its stage, and its replica's tokens all pass through it."
FAILS = (
    "test_8_stages_need_an_eighth_of_the_tokens",
    "test_any_data_parallelism",
)


def dp_critical_batch_tokens(
    flops_per_s: float, link_bytes_per_s: float, replicas: int | None = None, stages: int = 1
) -> float:
    return right(flops_per_s, link_bytes_per_s, replicas, 1)
