"""Only the first input is given a gradient."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

EXERCISE = "checkpoint"
HINT = "x has its gradient and the weights have none: every input that needs one gets one."
FAILS = (
    "test_output_and_gradients_are_the_same_as_without",
    "test_keeps_its_inputs_and_no_more",
    "test_runs_the_function_once_forward_and_once_backward",
    "test_an_input_may_need_no_gradient",
    "test_checkpoints_follow_one_another",
    "test_nothing_is_kept_under_no_grad",
    "test_any_mlp_in_one_checkpoint_or_several",
    "test_an_input_may_hold_integers",
    "test_costs_one_more_run_and_no_more_memory",
)
SYMPTOMS = ("gradient_missing",)


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
            inputs = [each.detach() for each in ctx.saved_tensors]
            x = inputs[0].requires_grad_()
            with torch.enable_grad():
                output = ctx.function(*inputs)
            (gradient,) = torch.autograd.grad(output, x, grad_output)
            return None, gradient, *[None] * (len(inputs) - 1)

    return Wrong.apply(function, *inputs)
