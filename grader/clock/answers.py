"""Whether what a timed call returned is right: fast enough to be asked after every call, on whole tensors.

A trusted implementation computes the same inputs in the same precision. How far it is itself from an exact one is
measured once a shape; what a submission returns may be a few times as far from the trusted answer, over the whole
tensor and over each block of rows. Relative L2 norms throughout, as in grader.checks.closeness.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from grader.checks.closeness import EXPONENT_UNITS, FACTOR, FP32_EPSILON, ROUNDING_UNITS

ROWS = 64
"""Rows of one block: those that a tile of queries has."""
SMALL_BLOCK = 0.1
"""A block is measured as if it had at least this share of the typical size: gradients of keys that nobody looks at
are next to nothing, and their rounding is not."""
LARGEST_SCORE = 32.0
"""Above what a scaled score reaches here, by which its exponential is off in fp32."""
TOUCHED = 1e-4
"""Of a chunk's norm: what sums in another order come to in a sketch, far above fp32's rounding."""


def error(got: Tensor, right: Tensor) -> Tensor:
    """Relative L2 error of each block of rows, and over all as the last one; shape (blocks + 1,), fp64.

    Args:
        got, right: same shape, (..., rows, D).
    """
    wanted, found = (_blocks(each) for each in (right, got))
    sizes = torch.linalg.vector_norm(wanted, dim=1)
    least = SMALL_BLOCK * torch.linalg.vector_norm(sizes) / math.sqrt(len(sizes))
    apart = torch.linalg.vector_norm(found - wanted, dim=1)
    overall = torch.linalg.vector_norm(apart) / torch.linalg.vector_norm(sizes).clamp_min(1e-300)
    return torch.cat([apart / sizes.clamp_min(least.clamp_min(1e-300)), overall[None]])


def _blocks(x: Tensor) -> Tensor:
    """(blocks, elements): consecutive rows of one head, zeros behind the last."""
    rows = x.double().reshape(-1, *x.shape[-2:])
    padding = -rows.shape[1] % ROWS
    if padding:
        rows = torch.cat([rows, rows.new_zeros(rows.shape[0], padding, rows.shape[2])], 1)
    return rows.reshape(-1, ROWS * rows.shape[2])


def allowed(trusted: Tensor, exact: Tensor) -> float:
    """How far from the trusted answer an honest one may be, as a relative L2 error of any block."""
    rounding = ROUNDING_UNITS * torch.finfo(trusted.dtype).eps
    exponent = EXPONENT_UNITS * FP32_EPSILON * (1 + LARGEST_SCORE)
    return (FACTOR + 1) * float(error(trusted, exact).max()) + rounding + exponent


def problem(name: str, got: Tensor, trusted: Tensor, most: float) -> str:
    """What is wrong with one output, in a few words; "" where nothing is.

    Args:
        most: what `allowed` says of this output.
    """
    if got.shape != trusted.shape:
        return f"{name} has shape {tuple(got.shape)}, not {tuple(trusted.shape)}"
    if got.dtype != trusted.dtype:
        return f"{name} is in {_short(got)}, not in {_short(trusted)}"
    if not bool(torch.isfinite(got).all()):
        return f"{name} has NaN or infinity"
    errors = error(got, trusted)
    worst = int(errors.argmax())
    if float(errors[worst]) <= most:
        return ""
    blocks = len(errors) - 1
    where = f"block {worst} of {blocks} ({ROWS} rows each) of {name} is" if worst < blocks else f"{name} is"
    return f"{where} off by {100 * float(errors[worst]):.2g} % (relative L2); rounding explains {100 * most:.2g} %"


def unfinished(outputs: Sequence[Tensor], sketched: Tensor, weights: Sequence[Tensor], chunk: int) -> bool:
    """Whether the outputs are not those that the sketch was made of: something wrote to them after the call.

    Args:
        sketched: what came as the clock stopped, 1-D.
        weights: one window for each output.
        chunk: elements of an output that share a number.
    """
    expected, most = [], []
    for output, weight in zip(outputs, weights, strict=True):
        # The worker weighs in the output's format; half precision then rounds each number of the sketch.
        unit = 4 * torch.finfo(output.dtype).eps if output.dtype != torch.float32 else 0.0
        products = output.reshape(-1).double() * weight.reshape(-1).to(output.dtype).double()
        whole = products.numel() // chunk * chunk
        for part in (products[:whole].view(-1, chunk), products[whole:].view(1, -1)):
            if part.numel():
                expected.append(part.sum(1))
                most.append((unit + TOUCHED) * torch.linalg.vector_norm(part, dim=1) + 1e-12)
    right, tolerance = torch.cat(expected), torch.cat(most)
    if sketched.shape != right.shape or not bool(torch.isfinite(sketched).all()):
        return True
    return bool(((sketched.to(right.device).double() - right).abs() > tolerance).any())


def _short(x: Tensor) -> str:
    return str(x.dtype).removeprefix("torch.")
