"""The function runs under no_grad, and nothing brings gradients back."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

EXERCISE = "checkpoint"
HINT = (
    "torch.no_grad() forgets the intermediate results, and the way back as well. It takes an "
    "autograd.Function, whose backward you write."
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
SYMPTOMS = ("output_detached",)


def checkpoint(function: "Callable[..., Tensor]", *inputs: "Tensor") -> "Tensor":
    import torch

    with torch.no_grad():
        return function(*inputs)
