"""The accumulator is rescaled, and the sum is not."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = "You rescale the accumulator but not the sum l: it shrinks by exp(old − new) as well."
FAILS = (
    "test_rescales_when_the_running_maximum_grows",
    "test_any_attention_in_any_tiles",
)
SYMPTOMS = ("sum_not_rescaled",)


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
    return attend(q, k, v, block_q, block_k, causal, scale, rescale_sum=False)
