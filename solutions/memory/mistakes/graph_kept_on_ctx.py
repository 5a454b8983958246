"""The graph is recorded in forward and kept on ctx."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

EXERCISE = "checkpoint"
HINT = (
    "Your Function records the graph in forward and keeps it, which costs all the memory that was to be "
    "saved. Keep the inputs, and build the graph in backward."
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
SYMPTOMS = ("graph_kept_on_ctx",)


def checkpoint(function: "Callable[..., Tensor]", *inputs: "Tensor") -> "Tensor":
    import torch

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, function, *inputs):
            ctx.inputs = [each.detach().requires_grad_(each.requires_grad) for each in inputs]
            with torch.enable_grad():
                ctx.output = function(*ctx.inputs)
            return ctx.output.detach()

        @staticmethod
        def backward(ctx, grad_output):
            wanted = ctx.needs_input_grad[1:]
            needing = [each for each, needed in zip(ctx.inputs, wanted, strict=True) if needed]
            gradients = iter(torch.autograd.grad(ctx.output, needing, grad_output))
            return None, *(next(gradients) if needed else None for needed in wanted)

    return Wrong.apply(function, *inputs)
