"""The gradients are summed over all examples and not divided."""

from collections.abc import Callable, Sequence

import torch.distributed as dist
from torch import Tensor, nn

from ._naive import step

EXERCISE = "naive_ddp"
HINT = (
    "Your gradient is that of the sum over all examples. The step wants the mean: divide by the number of "
    "examples of all ranks."
)
FAILS = (
    "test_three_examples_by_hand",
    "test_one_all_reduce_after_the_last_micro_batch",
    "test_uneven_examples_and_ranks_without_any",
    "test_weights_that_only_some_ranks_use",
    "test_any_ranks_and_examples",
    "test_any_use_of_weights",
)
SYMPTOMS = ("sum_for_mean",)


def naive_ddp(
    model: nn.Module,
    loss_sum: Callable[[Tensor, Tensor], Tensor],
    micro_batches: Sequence[tuple[Tensor, Tensor]],
    group: dist.ProcessGroup | None = None,
) -> None:
    step(model, loss_sum, micro_batches, group, "sum_for_mean")
