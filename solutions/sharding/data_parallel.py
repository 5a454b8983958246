# %% [markdown]
# # Data parallel
#
# Section 8 of the handout: the same model on every rank, other examples, one gradient.

# %%
"""Data parallel training: gradients averaged at once, then in buckets while backward still runs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

MicroBatch = tuple[Tensor, Tensor]
"""Inputs and targets; the first dimension of both counts the examples."""


# %% tags=["instructor"]
def _flat_gradients(parameters: Sequence[Tensor]) -> Tensor:
    """All gradients in one vector; zeros for a parameter without one, so that all ranks send the same size."""
    return torch.cat(
        [
            (torch.zeros_like(each) if each.grad is None else each.grad).detach().flatten()
            for each in parameters
        ]
    )


def _hand_out(flat: Tensor, parameters: Sequence[Tensor]) -> None:
    """The inverse of `_flat_gradients`."""
    for each, part in zip(parameters, flat.split([each.numel() for each in parameters]), strict=True):
        each.grad = part.view_as(each)


class _Bucket:
    """Parameters whose gradients travel in one all_reduce."""

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self.parameters = list(parameters)
        self.waiting = set(self.parameters)
        """Those whose gradient this backward has not finished yet."""

    def start(self, group: dist.ProcessGroup | None) -> None:
        self.flat = _flat_gradients(self.parameters)
        self.work = dist.all_reduce(self.flat, group=group, async_op=True)

    def finish(self, ranks: int) -> None:
        self.work.wait()
        _hand_out(self.flat / ranks, self.parameters)
        self.waiting = set(self.parameters)
        del self.flat, self.work


def _buckets(parameters: Sequence[Tensor], bucket_bytes: int) -> list[_Bucket]:
    """The parameters from last to first, in buckets that are closed before they would be too large."""
    parts: list[list[Tensor]] = []
    room = 0
    for each in reversed(parameters):
        if each.nbytes > room:
            parts.append([])
            room = bucket_bytes
        parts[-1].append(each)
        room -= each.nbytes
    return [_Bucket(part) for part in parts]


# %% nbgrader={"grade": false, "grade_id": "sharding.broadcast_parameters", "locked": false, "schema_version": 3, "solution": true, "task": false}
def broadcast_parameters(model: nn.Module, group: dist.ProcessGroup | None = None) -> None:
    """Give every rank the model of rank 0: all parameters and all buffers, in place.

    Each rank built the model by itself, from random numbers of its own, so shapes agree and values do not. Frozen
    parameters (`requires_grad` is False) and buffers of integers travel too. The tensors stay the same objects:
    an optimizer that was made before goes on with them. No parameter gets a gradient or a graph by this.

    Args:
        model: any module; it is changed on all ranks but 0.
        group: the ranks that take part, None for all. Rank 0 is that of the group.
    """
    ### BEGIN SOLUTION
    for each in (*model.parameters(), *model.buffers()):
        dist.broadcast(each.detach(), group=group, group_src=0)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "sharding.naive_ddp", "locked": false, "schema_version": 3, "solution": true, "task": false}
def naive_ddp(
    model: nn.Module,
    loss_sum: Callable[[Tensor, Tensor], Tensor],
    micro_batches: Sequence[MicroBatch],
    group: dist.ProcessGroup | None = None,
) -> None:
    """The gradients of one step of data parallel training, with one all_reduce.

    Every rank calls this with the same parameters and with micro-batches of its own. Afterwards `parameter.grad`
    is on every rank the gradient of the mean loss over ALL examples, of all micro-batches of all ranks: the one
    that a single process with the whole batch would have. Ranks may hold different numbers of micro-batches and
    examples, and a rank may hold none at all (an empty sequence); one rank has an example at least. So it is the
    mean over examples, and not the mean of the ranks' means.

    Gradients of a rank's micro-batches add up on the rank. The ranks communicate once, after the last of them,
    with exactly one all_reduce and no other collective: all gradients in one vector, and room for a few numbers
    more (at most 16 elements) where you want to know something of the other ranks.

    Args:
        model: has at least one parameter that needs a gradient, all such in fp32. Their `.grad` is None when this
            is called. A parameter may be used on some ranks only, or on none: it counts as zeros where it got no
            gradient, so that all ranks send vectors of one size. Used on no rank, it may end with zeros or with
            None. Parameters with `requires_grad` False take no part and keep None.
        loss_sum: (model(inputs), targets) to a scalar, the SUM of the losses of that micro-batch's examples.
        micro_batches: (inputs, targets) each; `len(inputs)` examples, 1 or more.
        group: the ranks that take part, None for all.

    Source: CS336 (Stanford, spring 2025), assignment 2, section 2.3; Li et al. 2020 (arXiv 2006.15704), section 3.2.
    """
    ### BEGIN SOLUTION
    parameters = [each for each in model.parameters() if each.requires_grad]
    for inputs, targets in micro_batches:
        loss_sum(model(inputs), targets).backward()
    gradients = _flat_gradients(parameters)
    examples = gradients.new_tensor([sum(len(inputs) for inputs, _ in micro_batches)])
    flat = torch.cat([gradients, examples])
    dist.all_reduce(flat, group=group)
    _hand_out(flat[:-1] / flat[-1], parameters)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "sharding.distributed_data_parallel", "locked": false, "schema_version": 3, "solution": true, "task": false}
class DistributedDataParallel(nn.Module):
    """A module whose gradients are averaged over the ranks, in buckets, while backward still runs.

        model = DistributedDataParallel(model, bucket_bytes=1 << 20)
        loss(model(inputs), targets).backward()      # all_reduces start in here
        model.finish_gradient_synchronization()      # and have ended after this
        optimizer.step()

    Every rank's loss is a mean over its own examples, of which all have equally many, so the gradient of the whole
    batch is the mean of the ranks' gradients. The names are those of CS336 (Stanford), assignment 2.

    Write what goes into several methods as helpers above the class or as further methods of it.

    Source: Li et al. 2020 (arXiv 2006.15704), sections 3.2 and 4.2.
    """

    def __init__(
        self, module: nn.Module, group: dist.ProcessGroup | None = None, bucket_bytes: int = 25 << 20
    ) -> None:
        """Give all ranks the parameters and buffers of rank 0, sort the parameters into buckets, place the hooks.

        Buckets: take the parameters that need a gradient in the REVERSE order of `module.parameters()`, which is
        about the order in which backward finishes them. A bucket is closed, and the next one begun, when the next
        parameter would make it larger than `bucket_bytes`; a parameter that is larger alone has a bucket for
        itself. A parameter that is tied, that is used in two places, is one parameter: it is in one bucket, once.

        Args:
            module: keeps its parameters in one format and on one device. Frozen ones take no part.
            group: the ranks that take part, None for all.
            bucket_bytes: the most that one bucket holds, at least 1.
        """
        super().__init__()
        ### BEGIN SOLUTION
        self.module = module
        self._group = group
        self._synchronizing = True
        self._started = 0
        """Buckets of this step whose all_reduce has been started."""
        broadcast_parameters(module, group)
        parameters = [each for each in module.parameters() if each.requires_grad]
        self._buckets = _buckets(parameters, bucket_bytes)
        self._bucket_of = {each: bucket for bucket in self._buckets for each in bucket.parameters}
        for each in parameters:
            each.register_post_accumulate_grad_hook(self._ready)
        ### END SOLUTION

    def forward(self, *inputs: Any, **named_inputs: Any) -> Any:
        """What the module returns for these inputs."""
        ### BEGIN SOLUTION
        return self.module(*inputs, **named_inputs)
        ### END SOLUTION

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A backward inside of `with model.no_sync():` adds up gradients on this rank and starts no all_reduce.

        A step of several micro-batches runs all but the last inside and the last outside: that one starts the
        all_reduces, over what has been added up by then. All ranks do so for equally many micro-batches.
        """
        ### BEGIN SOLUTION
        self._synchronizing = False
        try:
            yield
        finally:
            self._synchronizing = True
        ### END SOLUTION

    def finish_gradient_synchronization(self) -> None:
        """Wait until every gradient is the mean over the ranks.

        To be called on every rank after the last backward of a step; that backward ran outside of `no_sync`.

        An all_reduce is asynchronous, and starts in backward as soon as the gradients of its bucket are there. It
        is one collective for each bucket, of exactly the bytes of its parameters, and all ranks start them in the
        same order, from the first bucket to the last. Backward never waits for one to end.

        A parameter may be unused in a step, on some ranks or on all: no hook is called for it, so its bucket, and
        the ones behind it, are started here. It counts as zeros on a rank that did not use it. One that no rank
        used may end with zeros or with None. Which are used may change from step to step.
        """
        ### BEGIN SOLUTION
        self._start_buckets(even_incomplete=True)
        for bucket in self._buckets:
            bucket.finish(dist.get_world_size(self._group))
        self._started = 0

    def _ready(self, parameter: Tensor) -> None:
        """Called by autograd when the gradient of a parameter is complete for this backward."""
        if self._synchronizing:
            self._bucket_of[parameter].waiting.discard(parameter)
            self._start_buckets(even_incomplete=False)

    def _start_buckets(self, even_incomplete: bool) -> None:
        """Start what can be started, in order: a full bucket behind one that is not full has to wait."""
        for bucket in self._buckets[self._started :]:
            if bucket.waiting and not even_incomplete:
                break
            bucket.start(self._group)
            self._started += 1
        ### END SOLUTION
