"""backward starts from ones and not from the gradient that comes in."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

EXERCISE = "checkpoint"
HINT = (
    "The loss lies further on, and grad_output brings its gradient here: start from it, not from the sum "
    "of the output."
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
SYMPTOMS = ("grad_output_ignored",)


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
                loss = ctx.function(*inputs).sum()
            gradients = iter(torch.autograd.grad(loss, needing))
            return None, *(next(gradients) if needed else None for needed in wanted)

    return Wrong.apply(function, *inputs)
