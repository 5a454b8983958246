"""Checkpointing: keep a function's inputs, forget the rest, compute it again in backward."""

from collections.abc import Callable

import torch
from torch import Tensor


class RecomputeInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, fn, *tensors):
        ctx.fn = fn
        ctx.save_for_backward(*tensors)
        with torch.no_grad():
            return fn(*tensors)

    @staticmethod
    def backward(ctx, grad):
        needs = ctx.needs_input_grad[1:]
        fresh = []
        for t, need in zip(ctx.saved_tensors, needs):
            t = t.detach()
            if need:
                t.requires_grad_(True)
            fresh.append(t)
        with torch.enable_grad():
            out = ctx.fn(*fresh)
        wanted = [t for t, need in zip(fresh, needs) if need]
        grads = list(torch.autograd.grad(out, wanted, grad, allow_unused=True))
        result = [None]
        for need in needs:
            result.append(grads.pop(0) if need else None)
        return tuple(result)


def checkpoint(function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    return RecomputeInBackward.apply(function, *inputs)
