"""A kernel of the kit's own that shows whether the mended interpreter computes as it should."""

import ml_dtypes
import numpy as np
import torch
import triton
import triton.language as tl

from ..faults import UnsupportedTriton
from .number_formats import Array
from .patches import REMEDY

_ROWS = 16


@triton.jit  # type: ignore[untyped-decorator]
def _probe(left, right, product, total, rounded, steps, ROWS: tl.constexpr):  # type: ignore[no-untyped-def]
    rows = tl.arange(0, ROWS)
    tile = rows[:, None] * ROWS + rows[None, :]
    a = tl.load(left + tile)
    b = tl.load(right + tile)
    tl.store(product + tile, tl.dot(a, b))
    added = a
    for _ in range(steps):
        added += b
    tl.store(total + tile, added)
    tl.store(rounded + tile, (a.to(tl.float32) * 1.001).to(tl.bfloat16))


def check() -> None:
    """Raise UnsupportedTriton, one line with the remedy, unless bf16 is loaded, added, cast and multiplied right."""
    try:
        wrong = _wrong()
    except Exception as error:  # whatever a triton that we do not know does here, it cannot be mended
        wrong = f"it fails with {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    if not wrong:
        return
    if np.lib.NumpyVersion(np.__version__) >= "2.4.0" and triton.__version__.startswith("3.6"):
        wrong = f"its interpreter fails with numpy {np.__version__} (2.3 works)"
    raise UnsupportedTriton(f"triton {triton.__version__} cannot be mended: {wrong}; {REMEDY}")


def _wrong() -> str:
    steps = np.arange(_ROWS * _ROWS, dtype=np.float32).reshape(_ROWS, _ROWS)
    left = (np.sin(steps) * 3).astype(ml_dtypes.bfloat16)
    right = np.cos(steps * 1.7).astype(ml_dtypes.bfloat16)
    a, b = _as_torch(left), _as_torch(right)
    product = torch.zeros(_ROWS, _ROWS)
    total, rounded = torch.zeros_like(a), torch.zeros_like(a)
    _probe[(1,)](a, b, product, total, rounded, 2, ROWS=_ROWS)
    exact = left.astype(np.float64) @ right.astype(np.float64)
    if not np.allclose(product.numpy(), exact, rtol=1e-5, atol=1e-5):
        return "a bf16 dot is wrong"
    if (_bits(total) != (left + right + right).view(np.int16)).any():
        return "bf16 sums are wrong"
    expected = (left.astype(np.float32) * np.float32(1.001)).astype(ml_dtypes.bfloat16)
    if (_bits(rounded) != expected.view(np.int16)).any():
        return "fp32 is not rounded to the nearest bf16"
    return ""


def _as_torch(values: Array) -> torch.Tensor:
    return torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)


def _bits(tensor: torch.Tensor) -> Array:
    return tensor.view(torch.int16).numpy()
