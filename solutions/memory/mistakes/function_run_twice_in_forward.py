"""The forward pass runs the function twice."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

EXERCISE = "checkpoint"
HINT = "In the forward pass one run is enough: what forward returns, apply returns, so keep the output of that run."
FAILS = (
    "test_runs_the_function_once_forward_and_once_backward",
    "test_costs_one_more_run_and_no_more_memory",
)
SYMPTOMS = ("repeats_in_forward",)


def checkpoint(function: "Callable[..., Tensor]", *inputs: "Tensor") -> "Tensor":
    import torch

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, function, *inputs):
            ctx.function = function
            ctx.save_for_backward(*inputs)
            ctx.output_shape = function(*inputs).shape
            return function(*inputs)

        @staticmethod
        def backward(ctx, grad_output):
            wanted = ctx.needs_input_grad[1:]
            inputs = [each.detach() for each in ctx.saved_tensors]
            needing = [each.requires_grad_() for each, needed in zip(inputs, wanted, strict=True) if needed]
            with torch.enable_grad():
                output = ctx.function(*inputs)
            gradients = iter(torch.autograd.grad(output, needing, grad_output))
            return None, *(next(gradients) if needed else None for needed in wanted)

    return Wrong.apply(function, *inputs)
