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


# %%
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
        raise NotImplementedError("write me")

    def step(self) -> None:
        """Update all parameters in place, on every rank to the same values.

        Whole vectors may exist during a step. What the step puts on the wire is no more than an all-gather of
        ranks·s elements: gradients need no communication here, and moments never travel. A parameter whose
        gradient is None counts as one with a gradient of zeros: its moments and its weight decay.
        """
        raise NotImplementedError("write me")

    def zero_grad(self) -> None:
        """Set the gradient of every parameter to None."""
        raise NotImplementedError("write me")


# %%
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
        raise NotImplementedError("write me")

    def forward(self, x: Tensor) -> Tensor:
        """What the block returns for x; its backward fills `self.shard.grad` with the mean over the ranks.

        The gradient of a parameter that the block did not use is zeros. Under `torch.no_grad()` there is one
        all_gather and nothing stays. x may need a gradient or not.
        """
        raise NotImplementedError("write me")
