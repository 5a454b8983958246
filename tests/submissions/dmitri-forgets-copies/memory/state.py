"""Training state: bytes per parameter, when a bf16 step vanishes, adapters, ZeRO."""

import math
from collections.abc import Sequence
from typing import Literal

from specs import DTYPE_BYTES, AdapterStateBytes, DType, Recipe, StateBytes, ZeroStateBytes

Offload = Literal["none", "optimizer", "all"]


def nbytes(fmt):
    if fmt is None:
        return 0
    return DTYPE_BYTES[fmt]


def state_bytes_per_parameter(recipe: Recipe) -> StateBytes:
    # the weights are updated in place, so there is no third copy
    grads = nbytes(recipe.gradients) + nbytes(recipe.gradient_accumulation)
    return StateBytes(
        weights=nbytes(recipe.weights),
        gradients=grads,
        master=0,
        moments=sum(nbytes(fmt) for fmt in recipe.moments),
    )


def bf16_update_lost(weight: float, update: float) -> bool:
    s = weight + update
    # frexp gives 0.5 <= |m| < 1, so the exponent is one larger than in the docstring
    _, e = math.frexp(s)
    gap = 2.0 ** max(e - 8, -133)
    return round(s / gap) * gap == weight


def adapter_state_bytes(
    base_parameters: int, matrices: Sequence[tuple[int, int]], rank: int, recipe: Recipe
) -> AdapterStateBytes:
    lora = 0
    for n_in, n_out in matrices:
        lora += n_in * rank + rank * n_out
    a = recipe.adapters
    return AdapterStateBytes(
        frozen_weights=base_parameters * nbytes(a.frozen_weights),
        quantization_constants=0,  # small enough to ignore
        adapter_weights=lora * nbytes(recipe.weights),
        gradients=lora * (nbytes(recipe.gradients) + nbytes(recipe.gradient_accumulation)),
        master=lora * nbytes(recipe.master),
        moments=lora * sum(nbytes(fmt) for fmt in recipe.moments),
    )


def zero_state_bytes(
    parameters: int,
    recipe: Recipe,
    gpus: int,
    stage: int,
    offload: Offload = "none",
    largest_layer_parameters: int = 0,
) -> ZeroStateBytes:
    # how many ways each tenant is split
    opt_ways = gpus if stage >= 1 else 1
    grad_ways = gpus if stage >= 2 else 1
    weight_ways = gpus if stage >= 3 else 1
    weights = parameters * nbytes(recipe.weights) / weight_ways
    gradients = parameters * (nbytes(recipe.gradients) + nbytes(recipe.gradient_accumulation)) / grad_ways
    master = parameters * nbytes(recipe.master) / opt_ways
    moments = parameters * sum(nbytes(fmt) for fmt in recipe.moments) / opt_ways
    if offload in ("optimizer", "all"):
        gradients, master, moments = 0, 0, 0
    if offload == "all":
        weights = 0
    return ZeroStateBytes(weights=weights, gradients=gradients, master=master, moments=moments, gathered=0)
