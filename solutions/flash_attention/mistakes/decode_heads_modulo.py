"""Query heads share the cache by their remainder."""

from torch import Tensor

from ._decode import run

EXERCISE = "flash_decode"
HINT = (
    "You give key head j the query heads j, j + H_kv and so on. Neighbouring query heads share: the "
    "first H / H_kv read head 0."
)
FAILS = ("test_query_heads_share_a_cache",)
SYMPTOMS = ("heads_modulo",)
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, splits, scale, "heads_modulo")
