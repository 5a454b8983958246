"""Values written down so that two of them can be compared: exactly, and tensors of floats up to rounding.

The same wrong kernel with other tiles sums in another order, so its results are near to those of a mistake and not
equal. A tensor's sketch is its norm and eight random projections: the root mean square of the differences of the
projections of two tensors estimates the norm of their difference (Johnson and Lindenstrauss, 1984). No element can
be read from a sketch.
"""

import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.worker import wire

PROJECTIONS = 8
# Relative L2 distance below which two tensors are the same result. Two orders of summation differ by 1e-6 in
# float32 and by half a unit in the last place of the format in the others; mistakes differ by 1e-2 and more.
_NEAR = {"float64": 1e-3, "float32": 1e-3, "float16": 3e-3, "bfloat16": 1e-2}
_NEAR_OTHERWISE = 1e-1  # the 8-bit formats
_DIGITS = 6


@dataclass(frozen=True)
class Sketch:
    """What is kept of a tensor of floats."""

    near: float
    """Relative L2 distance below which another tensor is the same result."""
    odd: tuple[int, int, int]
    """How many elements are NaN, infinite, minus infinite."""
    norm: float
    projections: tuple[float, ...]
    """Of the finite elements over their norm."""

    def is_near(self, other: "Sketch") -> bool:
        """Whether the tensors are the same up to rounding."""
        largest = max(self.norm, other.norm)
        squares = [(a - b) ** 2 for a, b in zip(self.projections, other.projections, strict=True)]
        return (
            self.odd == other.odd
            and abs(self.norm - other.norm) <= self.near * largest
            and math.sqrt(sum(squares) / PROJECTIONS) <= self.near
        )

    def as_list(self) -> list[float]:
        """Plain numbers for JSON; `from_list` is the inverse."""
        return [self.near, *self.odd, self.norm, *self.projections]

    @staticmethod
    def from_list(numbers: Sequence[float]) -> "Sketch":
        """The sketch that `as_list` wrote down."""
        near, nan, plus, minus, norm, *projections = numbers
        return Sketch(near, (int(nan), int(plus), int(minus)), norm, tuple(projections))


@dataclass(frozen=True)
class Outline:
    """A value: what must be equal, and the sketches of its tensors of floats in order."""

    exact: bytes
    sketches: tuple[Sketch, ...] = ()

    def matches(self, other: "Outline") -> bool:
        """Whether the values are the same up to the rounding of tensors."""
        return self.exact == other.exact and all(
            mine.is_near(theirs) for mine, theirs in zip(self.sketches, other.sketches, strict=True)
        )


def outline(value: Any) -> Outline:
    """The outline of a value that came over the wire."""
    sketches: list[Sketch] = []
    return Outline(wire.canonical(_without_tensors(value, sketches)), tuple(sketches))


def _without_tensors(value: Any, sketches: list[Sketch]) -> Any:
    if isinstance(value, list | tuple):
        return [_without_tensors(part, sketches) for part in value]
    if isinstance(value, dict):
        return {key: _without_tensors(part, sketches) for key, part in value.items()}
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor) and value.is_floating_point():
        name = str(value.dtype).removeprefix("torch.")
        sketches.append(_sketch(value.detach().double().numpy(), _NEAR.get(name, _NEAR_OTHERWISE)))
        return f"tensor of {name} {list(value.shape)}"
    return value


def _sketch(values: NDArray[np.float64], near: float) -> Sketch:
    flat = np.ascontiguousarray(values).reshape(-1)
    odd = (int(np.isnan(flat).sum()), int((flat == np.inf).sum()), int((flat == -np.inf).sum()))
    flat = np.where(np.isfinite(flat), flat, 0.0)
    norm = float(np.linalg.norm(flat))
    along = _signs(flat.size) @ (flat / norm) if norm else np.zeros(PROJECTIONS)
    return Sketch(
        near, odd, float(f"{norm:.{_DIGITS}g}"), tuple(round(float(number), _DIGITS) for number in along)
    )


@lru_cache(maxsize=8)
def _signs(size: int) -> NDArray[np.float64]:
    """Fixed signs of shape (projections, size): Python's generator is the same on every machine."""
    rows = [
        np.unpackbits(np.frombuffer(random.Random(seed).randbytes(size // 8 + 1), np.uint8))[:size]  # noqa: S311 - signs, no secret
        for seed in range(PROJECTIONS)
    ]
    return np.stack(rows).astype(np.float64) * 2 - 1
