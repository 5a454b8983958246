"""The sum is divided by the number of ranks."""

from collections.abc import Callable, Sequence

import torch.distributed as dist
from torch import Tensor, nn

from ._naive import step

EXERCISE = "naive_ddp"
HINT = (
    "You divide the sum of the gradients by the number of ranks. loss_sum adds up over examples, so it is "
    "examples that must be counted."
)
FAILS = (
    "test_three_examples_by_hand",
    "test_one_all_reduce_after_the_last_micro_batch",
    "test_uneven_examples_and_ranks_without_any",
    "test_weights_that_only_some_ranks_use",
    "test_any_ranks_and_examples",
    "test_any_use_of_weights",
)
SYMPTOMS = ("divided_by_ranks_only",)


def naive_ddp(
    model: nn.Module,
    loss_sum: Callable[[Tensor, Tensor], Tensor],
    micro_batches: Sequence[tuple[Tensor, Tensor]],
    group: dist.ProcessGroup | None = None,
) -> None:
    step(model, loss_sum, micro_batches, group, "divided_by_ranks_only")
