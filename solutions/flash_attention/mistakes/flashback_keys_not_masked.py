"""V is loaded beyond its last row."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "The last tile of keys reaches beyond T_k, and your kernel loads rows that do not exist. Mask "
    "every load by rows and by columns, V as well as K."
)
FAILS = ("test_gradients_add_up_over_all_tiles", "test_gradients_of_ragged_shapes")
SYMPTOMS = ("kernel.out_of_bounds_load",)
ALSO = ("performance",)


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
    return run(q, k, v, out, lse, grad_out, causal, scale, "keys_not_masked")
