"""The scale is that of the padded head dimension."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_shapes"
HINT = (
    "Your scale is 1/√(padded D): with D = 80 the block of columns has 128, and the scale is 1/√80 "
    "all the same."
)
FAILS = ("test_head_dimensions_need_not_be_powers_of_two",)
SYMPTOMS = ("scale_of_padded_width",)
ALSO = ("flash_forward_half",)


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    width = 1 << (q.shape[-1] - 1).bit_length()
    return run(q, k, v, causal, width**-0.5 if scale is None else scale)
