"""How large attention's gradients are before anything cancels: what their rounding errors are to be measured by.

Where a softmax is nearly one-hot, dP − delta is a small difference of large numbers. Its rounding error is then large
beside the gradient, in every implementation, and small beside these sizes.

torch is not imported here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def gradient_sizes(
    q: Tensor, k: Tensor, v: Tensor, grad_out: Tensor, *, scale: float | None = None
) -> dict[str, float]:
    """Root mean square of the elements of dq, dk and dv, if every P · (dP − delta) were as large as a dP.

    Shapes as in `naive.attention`, heads not shared or shared; scale is 1/√D where None.
    """
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    # dP is a dot product over D: √D times an element of each of the two.
    ds = factor * math.sqrt(q.shape[-1]) * _element(grad_out) * _element(v)
    return {"dq": ds * _element(k), "dk": ds * _element(q), "dv": _element(grad_out)}


def _element(tensor: Tensor) -> float:
    return float(tensor.detach().double().norm()) / math.sqrt(max(tensor.numel(), 1))
