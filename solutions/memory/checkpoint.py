# %% [markdown]
# # Recompute instead of remember
#
# Section 11 of the handout, extra credit. The only file of this assignment that needs torch.

# %%
"""Checkpointing: keep a function's inputs, forget the rest, compute it again in backward."""

from collections.abc import Callable

import torch
from torch import Tensor


# %% tags=["instructor"]
class _Recompute(torch.autograd.Function):
    """One node of the graph in place of all that `function` would record."""

    @staticmethod
    def forward(ctx, function, *inputs):
        ctx.function = function
        ctx.save_for_backward(*inputs)
        return function(*inputs)  # autograd records nothing in here

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        wanted = ctx.needs_input_grad[1:]
        # Detached, so that the new graph ends here and does not run on into the graph before us.
        inputs = [each.detach() for each in ctx.saved_tensors]
        needing = [each.requires_grad_() for each, needed in zip(inputs, wanted, strict=True) if needed]
        with torch.enable_grad():  # autograd is off in backward as well
            output = ctx.function(*inputs)
        gradients = iter(torch.autograd.grad(output, needing, grad_output, allow_unused=True))
        return None, *(next(gradients) if needed else None for needed in wanted)


# %% nbgrader={"grade": false, "grade_id": "memory.checkpoint", "locked": false, "schema_version": 3, "solution": true, "task": false}
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
    ### BEGIN SOLUTION
    return _Recompute.apply(function, *inputs)
    ### END SOLUTION
