"""Query head h reads head h % H_kv."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_gqa"
HINT = "You map query head h to h % H_kv. Neighbouring heads share: h // (H / H_kv)."
FAILS = ("test_neighbouring_heads_share_keys_and_values",)
SYMPTOMS = ("heads_modulo",)
ALSO = ()


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "heads_modulo")
