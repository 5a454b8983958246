"""backward runs the function once for each input that needs a gradient."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

EXERCISE = "checkpoint"
HINT = "One run gives the gradients of all inputs: hand all of them to torch.autograd.grad at once."
FAILS = (
    "test_runs_the_function_once_forward_and_once_backward",
    "test_costs_one_more_run_and_no_more_memory",
)
SYMPTOMS = ("repeats_in_backward",)


def checkpoint(function: "Callable[..., Tensor]", *inputs: "Tensor") -> "Tensor":
    import torch

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, function, *inputs):
            ctx.function = function
            ctx.save_for_backward(*inputs)
            return function(*inputs)

        @staticmethod
        def backward(ctx, grad_output):
            gradients = []
            for index, needed in enumerate(ctx.needs_input_grad[1:]):
                inputs = [each.detach() for each in ctx.saved_tensors]
                if needed:
                    with torch.enable_grad():
                        output = ctx.function(
                            *inputs[:index], inputs[index].requires_grad_(), *inputs[index + 1 :]
                        )
                    gradients += torch.autograd.grad(output, inputs[index], grad_output)
                else:
                    gradients.append(None)
            return None, *gradients

    return Wrong.apply(function, *inputs)
