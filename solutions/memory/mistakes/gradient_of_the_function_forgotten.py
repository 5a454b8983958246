"""backward returns gradients for the inputs only."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

EXERCISE = "checkpoint"
HINT = (
    "forward has one more argument than the inputs: the function itself. Its gradient is None, and it "
    "comes first."
)
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
SYMPTOMS = ("gradient_count",)


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
            wanted = ctx.needs_input_grad[1:]
            inputs = [each.detach() for each in ctx.saved_tensors]
            needing = [each.requires_grad_() for each, needed in zip(inputs, wanted, strict=True) if needed]
            with torch.enable_grad():
                output = ctx.function(*inputs)
            gradients = iter(torch.autograd.grad(output, needing, grad_output))
            return tuple(next(gradients) if needed else None for needed in wanted)

    return Wrong.apply(function, *inputs)
