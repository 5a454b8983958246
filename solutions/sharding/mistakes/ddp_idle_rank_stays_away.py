"""A rank without examples does not take part."""

from collections.abc import Callable, Sequence

import torch.distributed as dist
from torch import Tensor, nn

from ._naive import step

EXERCISE = "naive_ddp"
HINT = (
    "A rank that has no examples returns at once, and the others wait for it in the all_reduce. It has to "
    "send zeros."
)
FAILS = (
    "test_uneven_examples_and_ranks_without_any",
    "test_any_ranks_and_examples",
)


def naive_ddp(
    model: nn.Module,
    loss_sum: Callable[[Tensor, Tensor], Tensor],
    micro_batches: Sequence[tuple[Tensor, Tensor]],
    group: dist.ProcessGroup | None = None,
) -> None:
    if micro_batches:
        step(model, loss_sum, micro_batches, group)
