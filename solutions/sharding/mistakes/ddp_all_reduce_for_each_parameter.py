"""One all_reduce for each parameter."""

from collections.abc import Callable, Sequence

import torch.distributed as dist
from torch import Tensor, nn

from ._naive import step

EXERCISE = "naive_ddp"
HINT = (
    "You start an all_reduce for each parameter: each pays the latency again. Put all gradients into one "
    "vector and reduce it once."
)
FAILS = (
    "test_one_all_reduce_after_the_last_micro_batch",
    "test_uneven_examples_and_ranks_without_any",
    "test_weights_that_only_some_ranks_use",
    "test_any_ranks_and_examples",
    "test_any_use_of_weights",
)
SYMPTOMS = ("one_for_each_parameter",)


def naive_ddp(
    model: nn.Module,
    loss_sum: Callable[[Tensor, Tensor], Tensor],
    micro_batches: Sequence[tuple[Tensor, Tensor]],
    group: dist.ProcessGroup | None = None,
) -> None:
    step(model, loss_sum, micro_batches, group, "one_for_each_parameter")
