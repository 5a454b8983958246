"""P is rounded to half precision before it is summed."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = (
    "You round P to the format of the inputs and sum that. Sum the fp32 P, and round it for the product "
    "with V only."
)
FAILS = ("test_half_precision_inputs_are_summed_in_fp32",)
SYMPTOMS = ("p_cast_before_sum",)


if TYPE_CHECKING:
    from torch import Tensor


def tiled_attention(
    q: "Tensor",
    k: "Tensor",
    v: "Tensor",
    block_q: int = 64,
    block_k: int = 64,
    causal: bool = False,
    scale: float | None = None,
) -> "tuple[Tensor, Tensor]":
    return attend(q, k, v, block_q, block_k, causal, scale, cast_before_sum=True)
