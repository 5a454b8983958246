"""One warp for a tile of 128 × 128."""

from torch import Tensor

from ._forward import run

EXERCISE = "efficiency"
HINT = (
    "Your tile does not fit the registers of its few threads, and they spill to memory: use more "
    "warps (num_warps=8), or smaller tiles."
)
FAILS = ("test_it_fits_an_h100",)
SYMPTOMS = ("spills",)
ALSO = ()


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, rows=128, cols=128, num_warps=1)
