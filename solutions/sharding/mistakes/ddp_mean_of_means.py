"""Each rank divides by its own number of examples, then the ranks are averaged."""

from collections.abc import Callable, Sequence

import torch.distributed as dist
from torch import Tensor, nn

from ._naive import step

EXERCISE = "naive_ddp"
HINT = (
    "You take the mean of the ranks' means. Where ranks hold different numbers of examples that is not "
    "the mean over the examples: add up sums and counts, and divide once."
)
FAILS = (
    "test_three_examples_by_hand",
    "test_uneven_examples_and_ranks_without_any",
    "test_any_ranks_and_examples",
    "test_any_use_of_weights",
)
SYMPTOMS = ("mean_of_means",)


def naive_ddp(
    model: nn.Module,
    loss_sum: Callable[[Tensor, Tensor], Tensor],
    micro_batches: Sequence[tuple[Tensor, Tensor]],
    group: dist.ProcessGroup | None = None,
) -> None:
    step(model, loss_sum, micro_batches, group, "mean_of_means")
