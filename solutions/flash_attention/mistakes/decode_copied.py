"""PyTorch multiplies, and a kernel copies the result."""

from torch import Tensor

from . import decode_library
from ._norms import copied

EXERCISE = "flash_decode"
HINT = (
    "Kernels run, but the products are computed by PyTorch: scores and the sum over V belong into the "
    "kernel of a part."
)
FAILS = ("test_the_keys_are_split_over_programs",)
SYMPTOMS = ("decode_beside_the_kernels", "kernel.library")
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    out, lse = decode_library.flash_decode(q, k, v, splits, scale)
    return copied(out), copied(lse)
