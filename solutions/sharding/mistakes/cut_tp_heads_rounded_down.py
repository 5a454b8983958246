"""Heads that do not divide are accepted."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right

EXERCISE = "tensor_parallel"
HINT = "A head cannot be cut in two: where gpus does not divide the heads, raise a ValueError."
FAILS = ("test_heads_that_do_not_divide_are_refused",)
SYMPTOMS = ("accepts 4 heads on 3 GPUs",)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    if gpus > 0 and micro_batch > 0 and gpt.heads % gpus:
        return right(
            gpt.model_copy(update={"heads": gpus * max(1, gpt.heads // gpus)}),
            micro_batch,
            microbatches,
            gpus,
        )
    return right(gpt, micro_batch, microbatches, gpus)
