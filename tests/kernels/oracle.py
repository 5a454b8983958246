"""What a right kernel may be wrong by: the error of the same sums done as a GPU does them, against float64.

A reference is written once, over an `Arithmetic`. Run with EXACT it is the oracle; run with `device(dtype)`
it rounds where a GPU rounds (operands of dots, what is stored) and adds up in float32. Its own error against
the oracle is the yardstick. `TRUNCATING` and `LOW_SUMS` are two wrong arithmetics, there to show that the
bound tells them apart.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Rounding = Literal["none", "nearest", "truncate"]

MANTISSA_BITS = {torch.float64: 52, torch.float32: 23, torch.float16: 10, torch.bfloat16: 7}
TF32_MANTISSA_BITS = 10
ROWS_PER_BLOCK = 16


@dataclass(frozen=True)
class Arithmetic:
    """How a reference computes; `dtype` is that of the inputs and outputs."""

    dtype: torch.dtype
    wide: torch.dtype = torch.float32
    """Of sums and of everything between two rounding points."""
    rounding: Rounding = "nearest"
    low_sums: bool = False
    """Wrong on purpose: running sums are kept in `dtype`."""

    def up(self, x: Tensor) -> Tensor:
        """x in the wide type."""
        return x.to(self.wide)

    def narrow(self, x: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """x rounded to `dtype` (by default that of the inputs), still held in the wide type."""
        kept = MANTISSA_BITS[dtype or self.dtype]
        if self.rounding == "none" or kept >= MANTISSA_BITS[self.wide]:
            return x
        if self.rounding == "truncate":
            return truncated(x, kept)
        return x.to(dtype or self.dtype).to(self.wide)

    def dot(self, a: Tensor, b: Tensor, precision: str = "tf32") -> Tensor:
        """a @ b: operands rounded as tensor cores take them, the sum kept wide."""
        a, b = self.operand(a, precision), self.operand(b, precision)
        if not self.low_sums:
            return a @ b
        total = torch.zeros((*a.shape[:-1], b.shape[-1]), dtype=self.wide)
        for start in range(0, a.shape[-1], 16):
            part = a[..., start : start + 16] @ b[..., start : start + 16, :]
            total = (total + part).to(self.dtype).to(self.wide)
        return total

    def operand(self, x: Tensor, precision: str) -> Tensor:
        """x as a dot multiplies it: rounded to the inputs' type; float32 to TF32 unless `ieee` is asked.

        Triton for sm_90 emits no conversion before a TF32 instruction, which reads the upper 19 bits: float32
        operands are truncated even on the device.
        """
        if self.rounding == "none":
            return x
        if self.dtype == torch.float32:
            return x if precision == "ieee" else truncated(x, TF32_MANTISSA_BITS)
        return self.narrow(x)

    def sum(self, x: Tensor, dim: int) -> Tensor:
        """The sum over one dimension, which is dropped."""
        if not self.low_sums:
            return x.sum(dim)
        total = torch.zeros_like(x.select(dim, 0))
        for part in x.unbind(dim):
            total = (total + part).to(self.dtype).to(self.wide)
        return total


def exact(dtype: torch.dtype) -> Arithmetic:
    """Float64 all through: the oracle for inputs of `dtype`."""
    return Arithmetic(dtype, wide=torch.float64, rounding="none")


def truncated(x: Tensor, mantissa_bits: int) -> Tensor:
    """Float32 x with the lower bits of its mantissa cut off: rounding towards zero."""
    keep = -1 << (MANTISSA_BITS[torch.float32] - mantissa_bits)
    return (x.contiguous().view(torch.int32) & keep).view(torch.float32)


@dataclass(frozen=True)
class Error:
    """How far values are from float64 ones, in three ways that see different faults."""

    relative_l2: float
    """‖x − ref‖ / ‖ref‖: noise too large everywhere."""
    worst_block: float
    """The same over blocks of 16 rows, each over its own ‖ref‖ or the mean block's where that is larger."""
    gain: float
    """⟨x − ref, ref⟩ / ⟨ref, ref⟩: a bias that shrinks or swells all values, as truncation does."""


def error_of(got: Tensor, expected: Tensor) -> Error:
    """The error of `got` against the float64 `expected` of the same shape; NaN and unequal infinities are infinite."""
    x, ref = got.detach().to(torch.float64).reshape(-1), expected.to(torch.float64).reshape(-1)
    same_infinity = torch.isinf(ref) & (x == ref)
    x, ref = torch.where(same_infinity, 0.0, x), torch.where(same_infinity, 0.0, ref)
    if not bool(torch.isfinite(x).all()) or not bool(torch.isfinite(ref).all()):
        return Error(math.inf, math.inf, math.inf)
    if not len(ref):
        return Error(0.0, 0.0, 0.0)
    norm = max(float(ref.norm()), torch.finfo(torch.float64).tiny)
    columns = expected.shape[-1] if expected.ndim > 1 else 8
    block = ROWS_PER_BLOCK * columns
    blocks = [(part, e) for part, e in zip(torch.split(ref, block), torch.split(x - ref, block), strict=True)]
    mean = norm / math.sqrt(len(ref))
    worst = max(float(e.norm()) / max(float(p.norm()), mean * math.sqrt(len(p))) for p, e in blocks)
    return Error(float((x - ref).norm()) / norm, worst, float((x - ref) @ ref) / norm**2)


@dataclass(frozen=True)
class Bound:
    """The most that a right kernel's `Error` may be, each way."""

    relative_l2: float
    worst_block: float
    gain: float

    def excess(self, error: Error) -> float:
        """The largest ratio of error to bound; above 1 the values are wrong."""
        return max(
            error.relative_l2 / self.relative_l2,
            error.worst_block / self.worst_block,
            abs(error.gain) / self.gain,
        )


def bound_of(device_like: Tensor, expected: Tensor) -> Bound:
    """From the error of the device-like values: what another order of the same sums and roundings may change.

    Another order of the same sums and roundings hardly changes the norm of the error: a seventh more is allowed.
    Truncation doubles it (1/√3 ulp in place of 1/√12) where it happens last, and shows best in the gain, which
    random rounding leaves near ‖error‖/√n: eight times that is allowed. A sum kept in 16 bits has several roundings
    in place of one. Float32 sums may come in any order, and a GPU's exp and division are good to 2 ulps: eight
    float32 ulps on top.
    """
    error = error_of(device_like, expected)
    noise = 8 * 2.0**-23
    count = max(expected.numel(), 1)
    return Bound(
        relative_l2=1.15 * error.relative_l2 + noise,
        worst_block=2 * error.worst_block + noise,
        gain=1.5 * abs(error.gain) + 8 * error.relative_l2 / math.sqrt(count) + noise,
    )


def as_tuple(value: object) -> tuple[Tensor, ...]:
    """The tensors of a value: itself, or the members of a tuple or list."""
    if isinstance(value, Tensor):
        return (value,)
    if isinstance(value, Iterable):
        return tuple(v for v in value if isinstance(v, Tensor))
    return ()


def attention(m: Arithmetic, q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> tuple[Tensor, Tensor]:
    """Softmax attention over the last two dimensions and its logsumexp; probabilities are rounded for the dot."""
    s = m.dot(m.up(q), m.up(k).transpose(-1, -2)) / math.sqrt(q.shape[-1])
    if causal:
        keep = torch.ones(s.shape[-2:], dtype=torch.bool).tril()
        s = s.masked_fill(~keep, -math.inf)
    top = s.max(-1, keepdim=True).values
    p = torch.exp(s - top)
    total = m.sum(p, -1)
    o = m.dot(p, m.up(v)) / total[..., None]
    return m.narrow(o), top[..., 0] + torch.log(total)
