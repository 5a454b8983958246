"""A layer cut over ranks, worked out without ranks: what each rank gets, must return, keep and communicate.

A case is made from a seed: the whole layer is computed in fp64 and in fp32, forward and backward, and cut. Weights are
(out, in) as in nn.Linear; parts are cut as `torch.tensor_split` cuts. Wrong answers that usual mistakes give come
with it, in fp64, by symptom.

torch is imported by the first call, so that tests can import this module where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    Suspects = dict[str, Callable[[], Tensor]]
    Layer = Callable[..., Tensor]


@dataclass(frozen=True)
class Traffic:
    """A collective that a layer needs: the bytes that the rank's record shows, least and most (padded)."""

    kind: str
    least_bytes: int
    most_bytes: int


@dataclass(frozen=True)
class Case:
    """One layer on `ranks` ranks; lists are by rank."""

    ranks: int
    init: tuple[Any, ...]
    """What the layer is built from, whole."""
    options: dict[str, Any]
    args: list[tuple[Tensor, Tensor]]
    """(x, gradient that arrives) of each rank."""
    wanted: list[dict[str, tuple[Tensor, Tensor]]]
    """By name ("output", "gradient of x", "gradient of weight"): in fp64, and the trusted answer in fp32."""
    suspects: list[dict[str, Suspects]]
    """By the same names, and by symptom."""
    forward: tuple[Traffic, ...] = ()
    backward: tuple[Traffic, ...] = ()
    accepted: tuple[Traffic, ...] = ()
    """Collectives of the backward pass that may be there and need not."""
    shapes: list[dict[str, tuple[int, ...]]] = field(default_factory=list)
    """Of the parameters that a rank holds."""
    whole: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Of the parameters that all ranks hold together."""
    exponent: float = 0.0
    """The largest score that is exponentiated."""


def generator(seed: int) -> Any:
    import torch

    return torch.Generator().manual_seed(seed)


def computed(layer: Layer, x: Tensor, grad: Tensor, parameters: Sequence[Tensor]) -> list[Tensor]:
    """The output, the gradient of x and those of the parameters, in the format of x."""
    import torch

    x, *own = (each.detach().clone().requires_grad_() for each in (x, *parameters))
    output = layer(x, *own)
    return [output.detach(), *torch.autograd.grad(output, (x, *own), grad)]


def both(layer: Layer, x: Tensor, grad: Tensor, parameters: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
    """`computed` in fp64 and in fp32, paired."""
    wide = computed(layer, x.double(), grad.double(), [each.double() for each in parameters])
    return list(zip(wide, computed(layer, x, grad, parameters), strict=True))


def cut(whole: Tensor, ranks: int, dim: int) -> list[Tensor]:
    return [part.contiguous() for part in whole.tensor_split(ranks, dim)]


def cut_pairs(pair: tuple[Tensor, Tensor], ranks: int, dim: int) -> list[tuple[Tensor, Tensor]]:
    return list(zip(*(cut(each, ranks, dim) for each in pair), strict=True))


def padded_bytes(part: Tensor, whole: int, ranks: int) -> int:
    """Bytes of all parts, each as long as the longest, of a dimension `whole` long; `part` is one slice of it."""
    return part.nbytes * -(-whole // ranks) * ranks


def named(names: Sequence[str], pairs: Sequence[tuple[Tensor, Tensor]]) -> dict[str, tuple[Tensor, Tensor]]:
    return dict(zip(names, pairs, strict=True))


def linear_tensors(
    seed: int, out_features: int, in_features: int, leading: Sequence[int], bias: bool
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """x, the gradient of the output, and the parameters; a bias large enough to be missed."""
    import torch

    drawn = generator(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=drawn)

    x, grad = normal(*leading, in_features), normal(*leading, out_features)
    weight = normal(out_features, in_features) / in_features**0.5
    return x, grad, [weight, 2 + normal(out_features)] if bias else [weight]
