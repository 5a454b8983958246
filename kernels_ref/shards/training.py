"""Training steps in one process: the oracle of data parallel, ZeRO and pipelines, which needs no ranks itself.

The network is a row of layers, x = tanh(x @ weight). torch is imported by the first call, so that tests can import
this module where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    Part = tuple[float, Sequence[int], Tensor, Tensor]
    """(factor, for each layer the index of its weight, inputs, targets)"""


def matrices(seed: int, *shapes: tuple[int, int]) -> list[Tensor]:
    """Weights in fp32, scaled so that tanh is far from flat."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) / shape[0] ** 0.5 for shape in shapes]


def batch(seed: int, examples: int, width_in: int, width_out: int) -> tuple[Tensor, Tensor]:
    """Inputs and targets of some examples, in fp32."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    inputs, targets = (torch.randn((examples, width), generator=generator) for width in (width_in, width_out))
    return inputs, targets


def gradients(
    weights: Sequence[Tensor], parts: Iterable[Part], dtype: torch.dtype, frozen: Sequence[int] = ()
) -> list[Tensor | None]:
    """Gradients of Σ factor · ½ Σ (output − targets)² over the parts; None where no part uses the weight."""
    import torch

    leaves = [
        weight.detach().to(dtype).requires_grad_(index not in frozen) for index, weight in enumerate(weights)
    ]
    for factor, layers, inputs, targets in parts:
        x = inputs.to(dtype)
        for layer in layers:
            x = torch.tanh(x @ leaves[layer])
        (factor * 0.5 * (x - targets.to(dtype)).square().sum()).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return [leaf.grad for leaf in leaves]


def outputs(weights: Sequence[Tensor], layers: Sequence[int], inputs: Tensor, dtype: torch.dtype) -> Tensor:
    """What the network returns."""
    import torch

    x = inputs.to(dtype)
    for layer in layers:
        x = torch.tanh(x @ weights[layer].to(dtype))
    return x


def adamw(
    values: Sequence[Tensor],
    by_step: Iterable[Sequence[Tensor]],
    dtype: torch.dtype,
    hyper: Mapping[str, Any],
    fault: str = "",
) -> list[list[Tensor]]:
    """The parameters after each step of AdamW (Loshchilov and Hutter 2019, algorithm 2), for each step's gradients.

    Not torch's own, whose first use imports its compiler, 1.3 s; a test compares the two.

    Args:
        values: at the beginning.
        by_step: gradients of each step.
        dtype: of the whole computation.
        hyper: lr, betas, eps, weight_decay.
        fault: a usual mistake, made on purpose: "l2_decay" (weight · decay added to the gradient), "no_decay",
            "no_bias_correction", "eps_inside" (of the root), or "sgd" (no moments at all).
    """
    import torch

    lr, (beta1, beta2), eps, decay = (hyper[name] for name in ("lr", "betas", "eps", "weight_decay"))
    held = [each.detach().to(dtype).clone() for each in values]
    moments = [(torch.zeros_like(each), torch.zeros_like(each)) for each in held]
    after = []
    for step, given in enumerate(by_step, start=1):
        for each, gradient, (first, second) in zip(held, given, moments, strict=True):
            g = gradient.to(dtype) + (decay * each if fault == "l2_decay" else 0.0)
            first.lerp_(g, 1 - beta1)
            second.mul_(beta2).addcmul_(g, g, value=1 - beta2)
            scales = (1.0, 1.0) if fault == "no_bias_correction" else (1 - beta1**step, 1 - beta2**step)
            mean = second / scales[1]
            root = (mean + eps).sqrt() if fault == "eps_inside" else mean.sqrt() + eps
            if fault not in ("l2_decay", "no_decay"):
                each.mul_(1 - lr * decay)
            each.sub_(lr * (g if fault == "sgd" else first / scales[0] / root))
        after.append([each.clone() for each in held])
    return after


def shard_elements(elements: int, ranks: int) -> int:
    """⌈elements / ranks⌉, what one rank owns at the most."""
    return -(-elements // ranks)


def shards(tensors: Sequence[Tensor], ranks: int) -> list[Tensor]:
    """All elements in one vector, zeros behind, cut into equal parts by rank."""
    import torch

    flat = torch.cat([each.detach().flatten() for each in tensors])
    size = shard_elements(flat.numel(), ranks)
    padded = torch.nn.functional.pad(flat, (0, ranks * size - flat.numel()))
    return list(torch.split(padded, size))


def buckets(sizes: Mapping[int, int], bucket_bytes: int) -> list[list[int]]:
    """Parameters from last to first, a bucket closed before it would be larger than `bucket_bytes`.

    Args:
        sizes: bytes of each parameter by its index, in the order of the module.
        bucket_bytes: the most of one bucket; a larger parameter has a bucket for itself.
    """
    found: list[list[int]] = []
    filled_bytes = 0
    for index in reversed(list(sizes)):
        if not found or filled_bytes + sizes[index] > bucket_bytes:
            found.append([])
            filled_bytes = 0
        found[-1].append(index)
        filled_bytes += sizes[index]
    return found


@dataclass
class WholeRun:
    """A row of blocks trained by AdamW in one process, on the batches of all ranks."""

    values: list[list[list[Tensor]]] = field(default_factory=list)
    """At the beginning and after each step, by block and matrix."""
    gradients: list[list[list[Tensor]]] = field(default_factory=list)
    """Of each step, by block and matrix."""
    input_gradients: list[list[Tensor]] = field(default_factory=list)
    """Of each step and rank: of that rank's own mean."""
    evaluated: list[Tensor] = field(default_factory=list)
    """By rank: what the trained blocks return for the inputs of the first step."""


Block = tuple[Sequence[Any], Sequence[int]]
"""Matrices of a block, and for each layer the index of its matrix."""


def whole_run(
    blocks: Sequence[Block],
    steps: Sequence[Sequence[tuple[Tensor, Tensor]]],
    dtype: torch.dtype,
    hyper: Mapping[str, Any],
) -> WholeRun:
    """Train on the mean over the ranks of ½ Σ (output − targets)² over the number of a rank's examples.

    Args:
        blocks: as they begin.
        steps: of each rank, inputs and targets of each step.
        dtype: of the whole computation.
        hyper: of AdamW.
    """
    import torch

    held = [[matrix.detach().to(dtype) for matrix in row] for row, _ in blocks]
    found = WholeRun([held])
    places = [(number, index) for number, (_, order) in enumerate(blocks) for index in order]
    by_step: list[list[Tensor]] = []
    start = [each for row in held for each in row]

    def rows(flat: Iterable[Tensor]) -> list[list[Tensor]]:
        left = iter(flat)
        return [[next(left) for _ in row] for row in held]

    def run(values: list[list[Tensor]], x: Tensor) -> Tensor:
        for number, index in places:
            x = torch.tanh(x @ values[number][index])
        return x

    for number in range(len(steps[0])):
        leaves = [each.clone().requires_grad_() for row in found.values[-1] for each in row]
        inputs = [own[number][0].to(dtype, copy=True).requires_grad_() for own in steps]
        losses = [
            0.5 * (run(rows(leaves), x) - own[number][1].to(dtype)).square().sum() / len(x)
            for x, own in zip(inputs, steps, strict=True)
        ]
        of_leaves = torch.autograd.grad(
            sum(losses[1:], losses[0]), [*leaves, *inputs], allow_unused=True, materialize_grads=True
        )
        by_step.append([each / len(steps) for each in of_leaves[: len(leaves)]])
        found.gradients.append(rows(by_step[-1]))
        found.input_gradients.append(list(of_leaves[len(leaves) :]))
        found.values.append(rows(adamw(start, by_step, dtype, hyper)[-1]))
    found.evaluated = [run(found.values[-1], own[0][0].to(dtype)) for own in steps]
    return found
