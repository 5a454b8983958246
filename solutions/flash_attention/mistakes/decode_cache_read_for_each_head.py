"""Every query head reads the cache by itself."""

from torch import Tensor

from ._decode import run

EXERCISE = "flash_decode"
HINT = (
    "Each query head of yours loads the keys and values that it shares with others. Let one program "
    "take all heads of a group as the rows of its tile."
)
FAILS = ("test_the_keys_are_split_over_programs",)
SYMPTOMS = ("cache_read_for_each_head",)
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, dim=1) for x in (k, v))
    return run(q, k, v, splits, scale)
