"""The ranks communicate after every micro-batch."""

from collections.abc import Callable, Sequence

import torch.distributed as dist
from torch import Tensor, nn

from ._naive import step

EXERCISE = "naive_ddp"
HINT = (
    "You reduce after every micro-batch. Gradients add up on the rank by themselves: communicate once, "
    "behind the loop."
)
FAILS = (
    "test_one_all_reduce_after_the_last_micro_batch",
    "test_uneven_examples_and_ranks_without_any",
    "test_any_ranks_and_examples",
    "test_any_use_of_weights",
)
SYMPTOMS = ("one_for_each_micro_batch",)


def naive_ddp(
    model: nn.Module,
    loss_sum: Callable[[Tensor, Tensor], Tensor],
    micro_batches: Sequence[tuple[Tensor, Tensor]],
    group: dist.ProcessGroup | None = None,
) -> None:
    step(model, loss_sum, micro_batches, group, "one_for_each_micro_batch")
