# %% [markdown]
# # Recompute instead of remember
#
# Section 11 of the handout, extra credit. The only file of this assignment that needs torch.

# %%
"""Checkpointing: keep a function's inputs, forget the rest, compute it again in backward."""

from collections.abc import Callable

import torch
from torch import Tensor


# %%
def checkpoint(function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    """`function(*inputs)`, with nothing kept for the backward pass but the inputs.

    In the forward pass `function` runs once, and none of its intermediate results stays alive. In the
    backward pass it runs once more, from the inputs that were kept and this time with a graph, out of which
    come the gradients of the inputs.

    Write a `torch.autograd.Function` of your own above this function, and call its `apply` here. Calling
    `torch.utils.checkpoint` does not count: it is what you are writing.

    Args:
        function: takes these inputs and returns one tensor, the same for the same inputs: it draws no random
            numbers. Whatever it reads that needs a gradient, weights too, comes to it through `inputs`.
            The checks change a number that theirs reads, once the forward pass is over: gradients that are right
            for the new number show that it ran again.
        inputs: tensors and nothing else, of any shape. Some may need no gradient (one of integers cannot have
            any), and one may be the output of another checkpoint.

    Returns:
        The output of `function`. Its backward gives each input that needs one the same gradient as without
        checkpointing. Under `torch.no_grad()` the output needs no gradient and nothing is kept. Gradients of
        gradients are not asked for.

    Source: Chen et al. 2016 (arXiv 1604.06174); "Extending PyTorch" in PyTorch's notes.
    """
    raise NotImplementedError("write me")
