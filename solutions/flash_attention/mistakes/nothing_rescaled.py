"""Neither the sum nor the accumulator is rescaled."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = (
    "What earlier tiles added is relative to a smaller maximum, in the sum and in the accumulator. Both "
    "shrink by exp(old − new) when it grows."
)
FAILS = (
    "test_rescales_when_the_running_maximum_grows",
    "test_any_attention_in_any_tiles",
)
SYMPTOMS = ("never_rescaled",)


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
    return attend(q, k, v, block_q, block_k, causal, scale, rescale_sum=False, rescale_accumulator=False)
