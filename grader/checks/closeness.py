"""Whether a tensor is as near to the fp64 reference as an honest low-precision computation gets.

The tolerance is no fixed number: it is a multiple of the error that a trusted implementation makes in the same
precision on the same inputs, plus some units of rounding. Errors are relative L2 norms, over the whole tensor and
over each block of rows, so that a few wrong rows among thousands are seen.

torch is imported by the first call: a check that compares no tensors needs none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    Suspect = Callable[[], Tensor] | Sequence[Callable[[], Tensor]]

FACTOR = 4.0
"""Times the trusted implementation's error. Another order of sums, exp2 with folded scale, or one rounding more
measured 0.3 to 2.5 times it; a wrong tile, mask or factor is a hundred times off."""
ROUNDING_UNITS = 1.0
"""Machine epsilons on top, for where the trusted error happens to be nothing, as with one key."""
EXPONENT_UNITS = 4.0
"""fp32 epsilons on top for each unit of the largest exponent: exp(x) is off by |x| of them for each rounding of x."""
FP32_EPSILON = 2.0**-23
SUSPECT_SHARE = 0.2
"""A wrong formula explains an answer that is five times nearer to it than to the right one or to another wrong one."""
ROWS = 16
"""Rows of one block."""

SMALL_BLOCK = 1e-3
"""A block this much smaller than most is measured as if it were so large: fp64 knows weights of e^-700, fp32 has 0."""

SHARE_OF_NATURAL = 0.1
"""And as if it had at least this share of the size that its terms have before they cancel."""


def close(
    got: Any,
    reference: Tensor,
    low_precision: Tensor,
    *,
    rows: int = -2,
    exponent: float = 0.0,
    natural: float = 0.0,
    name: str = "it",
    hidden: bool = False,
) -> tuple[bool, str]:
    """Whether `got` is right, and if not, what is wrong: kind, shape, format, a number that is none, or how far off.

    Args:
        got: what came back; need not be a tensor.
        reference: the right answer in fp64; −inf stands where the right answer is −inf.
        low_precision: the trusted implementation's answer, in the format and shape that is wanted.
        rows: the dimension that blocks of rows are taken along.
        exponent: the largest number that the function must exponentiate before anything is subtracted, a score
            or an lse; 0 where it exponentiates nothing.
        natural: root mean square of the elements if none of their terms cancelled; 0 where nothing cancels.
        name: what the tensor is called in messages.
        hidden: the message tells neither a place nor a number.
    """
    import torch

    shape, dtype = tuple(reference.shape), low_precision.dtype
    if not isinstance(got, torch.Tensor):
        kind = "None: is there a return?" if got is None else f"of type {type(got).__name__}"
        return False, f"{name} must be a tensor, and it is {kind}"
    if tuple(got.shape) != shape:
        found = "" if hidden else f" {tuple(got.shape)}, not {shape}"
        return False, f"{name} has the wrong shape{found}"
    if got.dtype != dtype:
        return False, f"{name} must be in {_short(dtype)}, and it is in {_short(got.dtype)}"
    wanted, found_values, trusted = (each.detach().double() for each in (reference, got, low_precision))
    problem = _not_finite(found_values, wanted, name, rows, hidden)
    if problem:
        return False, problem
    finite = torch.isfinite(wanted)
    wanted, found_values, trusted = (
        torch.where(finite, each, 0.0).movedim(rows, 0).flatten(1)
        if wanted.ndim > 1
        else torch.where(finite, each, 0.0)
        for each in (wanted, found_values, trusted)
    )
    rounding = ROUNDING_UNITS * torch.finfo(dtype).eps + EXPONENT_UNITS * FP32_EPSILON * (1 + exponent)
    return _compare(found_values, wanted, trusted, rounding, natural, name, hidden)


def relative_error(got: Tensor, reference: Tensor) -> float:
    """‖got − reference‖ / ‖reference‖ over all finite elements, infinite where one has a finite number alone."""
    import torch

    left, right = got.detach().double(), reference.detach().double()
    if left.shape != right.shape or not torch.equal(torch.isfinite(left), torch.isfinite(right)):
        return math.inf
    finite = torch.isfinite(right)
    return _ratio(float((left - right)[finite].norm()), float(right[finite].norm()))


def nearest(got: Any, reference: Tensor, suspects: Mapping[str, Suspect]) -> str:
    """Name of the one wrong answer that `got` is much nearer to than to the right one, or an empty string.

    Args:
        got: what came back; need not be a tensor.
        reference: the right answer.
        suspects: by name, functions that return what a usual mistake gives, in fp64, NaN and all; several where it
            depends on something unknown, such as the size of a tile.
    """
    import torch

    if not isinstance(got, torch.Tensor) or got.shape != reference.shape:
        return ""
    limit = SUSPECT_SHARE * relative_error(got, reference)
    errors = {
        name: min(relative_error(got, each()) for each in ([suspect] if callable(suspect) else suspect))
        for name, suspect in suspects.items()
        if callable(suspect) or suspect
    }
    best, *others = sorted(errors, key=lambda name: errors[name]) or [""]
    if not best or not errors[best] < limit:
        return ""
    told_apart = not others or errors[best] < SUSPECT_SHARE * errors[others[0]] or errors[others[0]] >= limit
    return best if told_apart else ""


def _compare(
    got: Tensor,
    wanted: Tensor,
    trusted: Tensor,
    rounding: float,
    natural: float,
    name: str,
    hidden: bool,
) -> tuple[bool, str]:
    """Over all rows and over each block of rows, which are the first dimension."""
    typical = float(wanted.norm()) / max(wanted.numel(), 1) ** 0.5  # root mean square of an element
    least = max(SMALL_BLOCK * typical, SHARE_OF_NATURAL * natural)

    def errors(part: slice) -> tuple[float, float]:
        """Relative errors of what came back, and of the trusted answer."""
        right = wanted[part]
        size = max(float(right.norm()), least * right.numel() ** 0.5)
        found, known = (float((each[part] - right).norm()) for each in (got, trusted))
        return _ratio(found, size), _ratio(known, size)

    overall, overall_trusted = errors(slice(None))
    worst, place, allowed_there = 0.0, "", 0.0
    for start in range(0, len(wanted), ROWS):
        error, trusted_here = errors(slice(start, start + ROWS))
        # Errors of a block vary: it may do as badly as the trusted implementation does over all.
        allowed = FACTOR * max(overall_trusted, trusted_here) + rounding
        if error > allowed and error - allowed > worst:
            worst, allowed_there = error, allowed
            place = f"rows {start} to {min(start + ROWS, len(wanted)) - 1} of {name}"
    allowed = FACTOR * overall_trusted + rounding
    if not worst and overall <= allowed:
        return True, ""
    if hidden:
        return False, f"{name} is wrong by far more than rounding explains"
    if overall > allowed and (not worst or overall > worst / 4):
        return (
            False,
            f"{name} is off by {_percent(overall)} (relative L2); rounding explains {_percent(allowed)}",
        )
    return False, (
        f"{place} are off by {_percent(worst)} (relative L2), all rows together by {_percent(overall)}; "
        f"rounding explains {_percent(allowed_there)}"
    )


def _not_finite(got: Tensor, wanted: Tensor, name: str, rows: int, hidden: bool) -> str:
    """What is wrong with infinities and NaN, or an empty string."""
    import torch

    nan = torch.isnan(got)
    if bool(nan.any()):
        return f"{name} has NaN{_where(nan, rows, hidden)}"
    if bool((torch.isinf(wanted) & (got != wanted)).any()):
        missing = torch.isinf(wanted) & (got != wanted)
        return f"{name} must be −inf where no key is seen, and is not{_where(missing, rows, hidden)}"
    infinite = torch.isinf(got) & torch.isfinite(wanted)
    if bool(infinite.any()):
        return f"{name} is infinite where it should not be{_where(infinite, rows, hidden)}"
    return ""


def _where(mask: Tensor, rows: int, hidden: bool) -> str:
    """`, first in row 12`"""
    if hidden:
        return ""
    along = mask.movedim(rows, 0).flatten(1).any(1) if mask.ndim > 1 else mask
    return f", first in row {int(along.nonzero()[0])}"


def _ratio(error: float, size: float) -> float:
    if size:
        return error / size
    return 0.0 if error == 0 else math.inf


def _percent(ratio: float) -> str:
    if math.isinf(ratio):
        return "more than everything"
    return f"{100 * ratio:.2g} %" if ratio < 0.995 else f"{100 * ratio:,.0f} %"


def _short(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")
