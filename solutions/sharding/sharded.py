# %% [markdown]
# # ZeRO: keep a part, fetch the rest
#
# Section 9 of the handout: the optimizer's state sharded (ZeRO-1), then the parameters themselves (ZeRO-3, FSDP).

# %%
"""ZeRO on running ranks: a sharded AdamW, and blocks whose parameters live as one shard on each rank."""

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


# %% tags=["instructor"]
def _flat(tensors: Iterable[Tensor], length: int) -> Tensor:
    """All elements in one vector with zeros behind, up to `length`."""
    vector = torch.cat([each.detach().flatten() for each in tensors])
    return nn.functional.pad(vector, (0, length - vector.numel()))


class _Gathered(torch.autograd.Function):
    """A block that is run on gathered parameters, and once more in backward: in between nothing of them is kept."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, shard: Tensor, owner: "FullySharded") -> Tensor:
        ctx.owner = owner
        ctx.save_for_backward(x, shard)
        return owner._run(x, owner._gather(shard))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, Tensor, None]:
        saved_x, shard = ctx.saved_tensors
        owner = ctx.owner
        x = saved_x.detach().requires_grad_(ctx.needs_input_grad[0])
        whole = owner._gather(shard).requires_grad_()
        with torch.enable_grad():
            output = owner._run(x, whole)
        output.backward(grad_output)
        mean = torch.empty_like(shard)
        gradients = torch.zeros_like(whole) if whole.grad is None else whole.grad
        dist.reduce_scatter(mean, list(gradients.split(mean.numel())), group=owner._group)
        mean /= dist.get_world_size(owner._group)
        return x.grad, mean, None


# %% nbgrader={"grade": false, "grade_id": "sharding.sharded_optimizer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class ShardedOptimizer:
    """AdamW whose moments are sharded over the ranks (ZeRO-1).

    Every rank holds all parameters, and when `step` is called all their gradients, averaged over the ranks
    already: both are the same on every rank. Think of all parameters as one vector of N elements, in the order of
    `params`. Rank r owns the elements from r·s up to (r+1)·s of it, s = ⌈N / ranks⌉; the last ranks own fewer, or
    none. It keeps the two moments of these, updates these, and gets the others from the ranks that own them.

    AdamW, in step t = 1, 2, ..., for each element p with gradient g:

        m = β1·m + (1 − β1)·g          v = β2·v + (1 − β2)·g²
        p = p − lr·weight_decay·p − lr · (m / (1 − β1^t)) / (√(v / (1 − β2^t)) + eps)

    where the p on the right is the one from before the step. Moments begin as zeros.

    Write the update yourself: torch.optim is what it is compared with. Helpers go above the class or into it.

    Source: Rajbhandari et al. 2020 (arXiv 1910.02054), section 5.1; Loshchilov and Hutter 2019, algorithm 2.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        group: dist.ProcessGroup | None = None,
    ) -> None:
        """Take the parameters, in fp32, the same on every rank.

        Args:
            params: at least one. A tied parameter may come several times: it is one parameter, at its first
                place, with one state and one update. There may be fewer elements than ranks.
            lr, betas, eps, weight_decay: as above; betas is (β1, β2).
            group: the ranks that share the state, None for all.

        What an optimizer keeps between steps, besides the parameters, is 2·4·s bytes at the most, and little
        numbers; nothing else of that size.
        """
        ### BEGIN SOLUTION
        self._params = list(dict.fromkeys(params))
        self._lr, self._betas, self._eps, self._weight_decay = lr, betas, eps, weight_decay
        self._group, self._steps = group, 0
        ranks = dist.get_world_size(group)
        self._part = -(-sum(each.numel() for each in self._params) // ranks)
        """Elements of a rank; the last rank's are padded."""
        self._whole = ranks * self._part
        first = dist.get_rank(group) * self._part
        self._own = slice(first, first + self._part)
        self._first_moment = self._params[0].new_zeros(self._part, requires_grad=False)
        self._second_moment = torch.zeros_like(self._first_moment)
        ### END SOLUTION

    def step(self) -> None:
        """Update all parameters in place, on every rank to the same values.

        Whole vectors may exist during a step. What the step puts on the wire is no more than an all-gather of
        ranks·s elements: gradients need no communication here, and moments never travel. A parameter whose
        gradient is None counts as one with a gradient of zeros: its moments and its weight decay.
        """
        ### BEGIN SOLUTION
        self._steps += 1
        beta1, beta2 = self._betas
        gradients = (torch.zeros_like(each) if each.grad is None else each.grad for each in self._params)
        gradient = _flat(gradients, self._whole)[self._own]
        whole = _flat(self._params, self._whole)
        self._first_moment.mul_(beta1).add_(gradient, alpha=1 - beta1)
        self._second_moment.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        first = self._first_moment / (1 - beta1**self._steps)
        second = self._second_moment / (1 - beta2**self._steps)
        decayed = whole[self._own] * (1 - self._lr * self._weight_decay)
        updated = decayed - self._lr * first / (second.sqrt() + self._eps)
        dist.all_gather(list(whole.split(self._part)), updated, group=self._group)
        start = 0
        for each in self._params:
            each.detach().copy_(whole[start : start + each.numel()].view_as(each))
            start += each.numel()
        ### END SOLUTION

    def zero_grad(self) -> None:
        """Set the gradient of every parameter to None."""
        ### BEGIN SOLUTION
        for each in self._params:
            each.grad = None
        ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "sharding.fsdp", "locked": false, "schema_version": 3, "solution": true, "task": false}
class FullySharded(nn.Module):
    """One block of a model, whose parameters are whole only while the block runs (ZeRO-3, FSDP).

        blocks = [FullySharded(block) for block in blocks]
        optimizer = torch.optim.AdamW([block.shard for block in blocks])   # of the shards, so sharded as well
        ...
        for block in blocks:
            x = block(x)
        loss(x, targets).backward()
        optimizer.step()

    The parameters of the block, flattened, are one vector of N elements, in the order of `block.parameters()`, each
    in the order of its own `flatten()`. Rank r keeps the elements from r·s up to (r+1)·s, s = ⌈N / ranks⌉, behind
    which there are zeros up to ranks·s.

    Forward: gather the vector (one all_gather), run the block, forget the vector. Backward: gather it again (a second
    one), compute the gradients of the input and of the vector, reduce-scatter the latter, forget both. So a step
    costs each block exactly two all_gathers of ranks·s elements and one reduce_scatter of ranks·s elements. Every
    rank's loss is a mean over its own examples, of which all have equally many: the gradient of the whole batch is
    the mean of the ranks' gradients.

    Autograd keeps what a matmul needs for backward, its weight too. Either write a `torch.autograd.Function` whose
    backward runs the block again from its input, as in the memory assignment's `checkpoint`
    (`torch.func.functional_call` runs a module on other parameters), or empty the storage
    (`untyped_storage().resize_(0)`) and fill it again before backward. Helpers go above the class or into it.

    Source: Rajbhandari et al. 2020 (arXiv 1910.02054), section 5.3; Zhao et al. 2023 (arXiv 2304.11277), section 3.
    """

    def __init__(self, block: nn.Module, group: dist.ProcessGroup | None = None) -> None:
        """Shard the block: afterwards this rank holds `self.shard` of its parameters and nothing else.

        Args:
            block: at least one parameter, all in fp32 and needing gradients, and none shared with another block;
                one may be used twice inside of the block. Called with one tensor, it returns one tensor; it draws
                no random numbers and behaves the same in training and in evaluation. Ranks may hold different
                values: those of rank 0 count (collectives may be used for that here).
            group: the ranks that share the parameters, None for all.

        `self.shard` is an nn.Parameter of shape (s,) and the only thing that `parameters()` yields which is not
        empty. The storage of the block's own parameters is freed.
        """
        super().__init__()
        ### BEGIN SOLUTION
        self._block = [block]  # in a list, so that its emptied parameters do not count as ours
        self._group = group
        self._shapes = {name: each.shape for name, each in block.named_parameters()}
        ranks = dist.get_world_size(group)
        elements = sum(each.numel() for each in block.parameters())
        self._part = -(-elements // ranks)
        whole = _flat(block.parameters(), ranks * self._part)
        dist.broadcast(whole, group=group, group_src=0)
        own = whole.split(self._part)[dist.get_rank(group)]
        self.shard = nn.Parameter(own.clone())  # cloned: a view would keep the whole alive
        for each in block.parameters():
            each.data = each.new_empty(0)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """What the block returns for x; its backward fills `self.shard.grad` with the mean over the ranks.

        The gradient of a parameter that the block did not use is zeros. Under `torch.no_grad()` there is one
        all_gather and nothing stays. x may need a gradient or not.
        """
        ### BEGIN SOLUTION
        return _Gathered.apply(x, self.shard, self)

    def _gather(self, shard: Tensor) -> Tensor:
        """All parameters of the block in one vector, padding included."""
        whole = shard.new_empty(dist.get_world_size(self._group) * self._part, requires_grad=False)
        dist.all_gather(list(whole.split(self._part)), shard.detach(), group=self._group)
        return whole

    def _run(self, x: Tensor, whole: Tensor) -> Tensor:
        """The block with parameters out of that vector."""
        sizes = [shape.numel() for shape in self._shapes.values()]
        parts = whole.split([*sizes, whole.numel() - sum(sizes)])
        named = {
            name: part.view(shape) for (name, shape), part in zip(self._shapes.items(), parts, strict=False)
        }
        return torch.func.functional_call(self._block[0], named, (x,))
        ### END SOLUTION
