"""Training state: bytes per parameter, when a bf16 step vanishes, adapters, ZeRO."""

import math
from collections.abc import Sequence
from typing import Literal

from specs import AdapterStateBytes, Recipe, StateBytes, ZeroStateBytes

from formats import nbytes

Offload = Literal["none", "optimizer", "all"]




def state_bytes_per_parameter(recipe: Recipe) -> StateBytes:
	moments = 0
	for fmt in recipe.moments:
		moments += nbytes(fmt)
	return StateBytes(
		weights=nbytes(recipe.weights),
		gradients=nbytes(recipe.gradients) + nbytes(recipe.gradient_accumulation),
		master=nbytes(recipe.master),
		moments=moments,
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
	constants = 0
	if a.quantization_block:
		n_constants = base_parameters / a.quantization_block
		if a.double_quantization_block:
			constants = n_constants * (1 + 4 / a.double_quantization_block)
		else:
			constants = n_constants * 4
	per_param = state_bytes_per_parameter(recipe)
	return AdapterStateBytes(
		frozen_weights=base_parameters * nbytes(a.frozen_weights),
		quantization_constants=constants,
		adapter_weights=lora * per_param.weights,
		gradients=lora * per_param.gradients,
		master=lora * per_param.master,
		moments=lora * per_param.moments,
	)


def zero_state_bytes(
	parameters: int,
	recipe: Recipe,
	gpus: int,
	stage: int,
	offload: Offload = "none",
	largest_layer_parameters: int = 0,
) -> ZeroStateBytes:
	per_param = state_bytes_per_parameter(recipe)
	# how many ways each tenant is split
	opt_ways = gpus if stage >= 1 else 1
	grad_ways = gpus if stage >= 2 else 1
	weight_ways = gpus if stage >= 3 else 1
	weights = parameters * per_param.weights / weight_ways
	gradients = parameters * per_param.gradients / grad_ways
	master = parameters * per_param.master / opt_ways
	moments = parameters * per_param.moments / opt_ways
	if offload in ("optimizer", "all"):
		gradients, master, moments = 0, 0, 0
	if offload == "all":
		weights = 0
	gathered = 0
	if stage == 3:
		gathered = largest_layer_parameters * per_param.weights * 2
	return ZeroStateBytes(weights=weights, gradients=gradients, master=master, moments=moments, gathered=gathered)
