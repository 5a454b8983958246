# %% [markdown]
# # One plot decides
#
# Intensity, ridge, roof, and the batch at which a layer crosses the ridge.
# Sections 3 and 4 of the handout, `README.md`: the formulas and one worked number each.

# %%
"""The roofline: arithmetic intensity against a card's two ceilings, and the critical batch."""

import math
from typing import Literal

from specs import DTYPE_BYTES, Cost, DType, Gpu

Bound = Literal["compute", "memory"]


# %%
def arithmetic_intensity(cost: Cost) -> float:
    """FLOPs that an operation does for each byte that it moves.

    Args:
        cost: the operation's bill. Bytes that are read and bytes that are written both count as moved.

    Returns:
        FLOPs per byte. 0 for an operation that only moves, such as a copy; `math.inf` for one that moves no
        byte, whatever its FLOPs.

    Source: Roofline (Williams, Waterman and Patterson 2009).
    """
    raise NotImplementedError("write me")


# %%
def ridge_point(gpu: Gpu, dtype: DType) -> float:
    """The intensity at which a card's two ceilings meet.

    Args:
        gpu: a shipped card, or any other. `gpu.peak_flops(dtype)` is its dense peak in FLOP/s, without
            sparsity; `gpu.hbm_bytes_per_s` the bandwidth of its own memory in bytes a second, reads and
            writes together.
        dtype: the format of the arithmetic.

    Returns:
        FLOPs per byte: what an operation must do with each byte for the peak to be within reach.

    Raises:
        SpecError: the card has no such rate (`gpu.peak_flops` raises it).
    """
    raise NotImplementedError("write me")


# %%
def attainable_flops(intensity: float, gpu: Gpu, dtype: DType) -> float:
    """The roof: the most FLOP/s that an operation of some intensity gets from a card.

    Args:
        intensity: FLOPs per byte, 0 or more; `math.inf` for an operation that moves no byte.
        gpu: the card, with the rates that `ridge_point` names.
        dtype: the format of the arithmetic.

    Returns:
        FLOP/s: what the bandwidth feeds below the ridge, the peak above it.

    Raises:
        SpecError: the card has no such rate.
    """
    raise NotImplementedError("write me")


# %%
def time_s(cost: Cost, gpu: Gpu, dtype: DType) -> float:
    """The least time that an operation takes on a card.

    Moving and computing overlap perfectly, so the longer of the two bills is the time.

    Args:
        cost: the operation's bill. Reads and writes share one bandwidth, so their bytes add up.
        gpu: the card, with the rates that `ridge_point` names.
        dtype: the format of the arithmetic.

    Returns:
        Seconds.

    Raises:
        SpecError: the card has no such rate.
    """
    raise NotImplementedError("write me")


# %%
def bound(cost: Cost, gpu: Gpu, dtype: DType) -> Bound:
    """Which of the two bills decides an operation's time.

    Args:
        cost: the operation's bill.
        gpu: the card, with the rates that `ridge_point` names.
        dtype: the format of the arithmetic.

    Returns:
        "compute" when the FLOPs take at least as long as the bytes, so also exactly at the ridge; else
        "memory". An operation that moves no byte is bound by compute.

    Raises:
        SpecError: the card has no such rate.
    """
    raise NotImplementedError("write me")


# %%
def critical_batch(
    gpu: Gpu,
    compute: DType,
    weights: DType,
    inputs: int | None = None,
    outputs: int | None = None,
) -> float:
    """How many tokens a linear layer needs at once to reach the ridge. In decoding a sequence is one token.

    A layer of B tokens does 2 · B · inputs · outputs FLOPs, at the peak of the format `compute`. It reads its
    inputs · outputs weights once, in the format `weights`; it reads B · inputs activations and writes
    B · outputs, both in the format `compute`. There is no bias.

    Args:
        gpu: the card; its ridge is `gpu.peak_flops(compute)` over `gpu.hbm_bytes_per_s`.
        compute: the format of the arithmetic and of the activations.
        weights: the format in which the weights are stored; turning them into `compute` is free.
        inputs: width of the layer's input.
        outputs: width of the layer's output. Both widths are given or neither is. Without them the layer is
            so wide that activations do not count, and only the bytes of the weights do.

    Returns:
        Tokens B at which the layer's intensity equals the ridge, not rounded to an integer; `math.inf` when
        the intensity stays below the ridge however large B is.

    Raises:
        SpecError: the card has no rate for `compute`.

    Source: How to Scale Your Model (the scaling book), chapter "Rooflines", questions 1 to 3.
    """
    raise NotImplementedError("write me")
