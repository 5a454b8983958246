"""Experts that do not divide are accepted."""

from specs import Gpt, GpuShare

from ..cuts import expert_parallel as right

EXERCISE = "expert_parallel"
HINT = "An expert is not cut: raise a ValueError where gpus does not divide the experts."
FAILS = ("test_experts_that_do_not_divide_are_refused",)
SYMPTOMS = ("accepts 8 experts on 3 GPUs",)


def expert_parallel(
    gpt: Gpt, experts: int, top_k: int, micro_batch: int, microbatches: int, gpus: int
) -> GpuShare:
    if experts % gpus:
        experts = gpus * max(experts // gpus, 1)
    return right(gpt, experts, top_k, micro_batch, microbatches, gpus)
