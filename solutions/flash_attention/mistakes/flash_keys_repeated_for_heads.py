"""K and V are copied for every query head."""

from torch import Tensor

from ._forward import run

EXERCISE = "efficiency"
HINT = (
    "You repeat K and V for every query head (repeat_interleave, expand and contiguous): that is H / "
    "H_kv times their bytes. Let the kernel compute the address of the head it shares."
)
FAILS = ("test_each_byte_is_touched_once_at_least_and_no_other",)
SYMPTOMS = ("keys_copied_for_heads",)
ALSO = ()


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    if k.dim() > 2 and k.shape[-3] != q.shape[-3]:
        group = q.shape[-3] // k.shape[-3]
        k, v = (x.repeat_interleave(group, dim=-3) for x in (k, v))
    return run(q, k, v, causal, scale)
