"""A rank leaves parameters without a gradient out of the vector."""

from collections.abc import Callable, Sequence

import torch.distributed as dist
from torch import Tensor, nn

from ._naive import step

EXERCISE = "naive_ddp"
HINT = (
    "Your rank leaves out parameters that have no gradient, so ranks that use different ones send vectors "
    "of different lengths. Put zeros in their place."
)
FAILS = (
    "test_uneven_examples_and_ranks_without_any",
    "test_weights_that_only_some_ranks_use",
    "test_any_ranks_and_examples",
    "test_any_use_of_weights",
)


def naive_ddp(
    model: nn.Module,
    loss_sum: Callable[[Tensor, Tensor], Tensor],
    micro_batches: Sequence[tuple[Tensor, Tensor]],
    group: dist.ProcessGroup | None = None,
) -> None:
    step(model, loss_sum, micro_batches, group, "left_out")
