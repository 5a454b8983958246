"""One query head of a group gives dK and dV."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "Several query heads read one head of K and V, and your dK and dV have the contribution of one of "
    "them. All heads of the group add to the same tile."
)
FAILS = ("test_gradients_of_shared_heads_are_summed",)
SYMPTOMS = ("one_head_of_group",)
ALSO = ()


def flash_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    grad_out: Tensor,
    causal: bool = False,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, out, lse, grad_out, causal, scale, "last_head_only")
