"""Seeded inputs for attention and softmax, made so that the usual wrong kernels come out far from right.

With N(0, 1) inputs a softmax is nearly flat: a kernel that never rescales, or drops its last keys, is off by less
than half precision is. So queries are scaled up, values have an offset, and each generator makes one property
matter. Shapes are those of `naive`: q (*leading, T_q, D); k and v (*kv_leading, T_k, D). All are made on the CPU,
from the seed alone, in fp32 and then rounded to `dtype`.

torch is imported by the first call, so that tests can import this module where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy
    import torch
    from torch import Tensor

    Inputs = tuple[Tensor, Tensor, Tensor]

QUERY_SCALE = 4.0
"""Standard deviation of the scaled scores: the largest of a hundred keys then has most of the weight."""
VALUE_OFFSET = 1.0
"""Mean of V: a sum of weights that is not 1 shows in every element of the output."""
MARGIN = 30.0
"""By how much a needle's score exceeds the others: e^30 times their weight."""


def peaked(
    seed: int,
    queries: int,
    keys: int,
    head_dim: int,
    *,
    leading: Sequence[int] = (),
    kv_leading: Sequence[int] | None = None,
    dtype: str = "float32",
    query_scale: float = QUERY_SCALE,
) -> Inputs:
    """Return q, k, v with scaled scores of standard deviation `query_scale`: each row has few keys that count.

    Shapes: see the module; `kv_leading` is `leading` where None, and differs from it where heads share K and V.
    """
    generator = _generator(seed)
    q = query_scale * _normal(generator, (*leading, queries, head_dim))
    shared = tuple(leading if kv_leading is None else kv_leading)
    k = _normal(generator, (*shared, keys, head_dim))
    v = VALUE_OFFSET + _normal(generator, (*shared, keys, head_dim))
    return _round(dtype, q, k, v)


def climbing(
    seed: int,
    queries: int,
    keys: int,
    head_dim: int,
    *,
    climb: float = MARGIN,
    leading: Sequence[int] = (),
    dtype: str = "float32",
) -> Inputs:
    """Return q, k, v whose scaled scores climb by `climb` from the first key to the last; fall where it is < 0.

    A running maximum then grows in every tile, and each tile matters less than the next one; or it is final after
    the first tile. Needs head_dim ≥ 2. Shapes: see the module.
    """
    import torch

    q, k, v = peaked(seed, queries, keys, head_dim, leading=leading, query_scale=1.0)
    # One coordinate carries the climb: q has √D there, k a ramp, and scale 1/√D leaves the ramp.
    q[..., 0] = head_dim**0.5
    k[..., 0] = torch.linspace(0, climb, keys)
    return _round(dtype, q, k, v)


def needle(
    seed: int,
    queries: int,
    keys: int,
    head_dim: int,
    position: int,
    *,
    leading: Sequence[int] = (),
    dtype: str = "float32",
) -> Inputs:
    """Return q, k, v where the key at `position` has nearly all the weight in every row that sees it.

    The output is that key's value, so whoever skips its tile is wrong everywhere. Needs head_dim ≥ 2.
    Shapes: see the module.
    """
    q, k, v = peaked(seed, queries, keys, head_dim, leading=leading, query_scale=1.0)
    q[..., 0] = head_dim**0.5
    k[..., 0] = 0.0
    k[..., position, 0] = MARGIN
    return _round(dtype, q, k, v)


def huge(
    seed: int,
    queries: int,
    keys: int,
    head_dim: int,
    *,
    largest: float = 1e4,
    leading: Sequence[int] = (),
    dtype: str = "float32",
) -> Inputs:
    """Return q, k, v whose scaled scores reach about ±`largest`: exp of any of them overflows or vanishes.

    Shapes: see the module.
    """
    q, k, v = peaked(seed, queries, keys, head_dim, leading=leading, query_scale=1.0)
    reached = float((q @ k.mT).abs().max()) / head_dim**0.5
    return _round(dtype, q * (largest / reached), k, v)


def ties(
    seed: int,
    queries: int,
    keys: int,
    head_dim: int,
    *,
    leading: Sequence[int] = (),
    dtype: str = "float32",
) -> Inputs:
    """Return q, k, v whose keys are all the same: every score of a row ties, and the output is the mean of V.

    Shapes: see the module.
    """
    q, k, v = peaked(seed, queries, keys, head_dim, leading=leading)
    return _round(dtype, q, k[..., :1, :].expand_as(k).contiguous(), v)


def gradient(seed: int, like: Tensor) -> Tensor:
    """Return a gradient for an output like this one, of its shape and dtype: N(0, 1), another row another size."""
    generator = _generator(seed)
    rows = 0.5 + _normal(generator, (*like.shape[:-1], 1)).abs()
    return (rows * _normal(generator, tuple(like.shape))).to(like.dtype)


def rows_of_scores(
    seed: int,
    rows: int,
    columns: int,
    *,
    climb: float = 0.0,
    spread: float = QUERY_SCALE,
    dtype: str = "float32",
) -> Tensor:
    """Return (rows, columns) scores: N(0, spread²), plus a ramp of `climb` along the columns."""
    import torch

    scores = spread * _normal(_generator(seed), (rows, columns)) + torch.linspace(0, climb, columns)
    return scores.to(_dtype(dtype))


def _generator(seed: int) -> numpy.random.Generator:
    import numpy

    # numpy's stream is the same on every machine; PyTorch's depends on the vector width of the CPU.
    return numpy.random.Generator(numpy.random.PCG64(seed))


def _normal(generator: numpy.random.Generator, shape: tuple[int, ...]) -> Tensor:
    import numpy
    import torch

    return torch.from_numpy(generator.standard_normal(shape, dtype=numpy.float32))


def _dtype(name: str) -> torch.dtype:
    import torch

    dtype: torch.dtype = getattr(torch, name)
    return dtype


def _round(dtype: str, q: Tensor, k: Tensor, v: Tensor) -> Inputs:
    wanted = _dtype(dtype)
    return q.to(wanted), k.to(wanted), v.to(wanted)
