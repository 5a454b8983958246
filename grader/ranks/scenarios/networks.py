"""Small models for the scenarios of training: layers of one matrix each, tied, frozen or left out as a check asks."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

# torch imports this one at the first backward, where it would take 0.4 s of every rank.
import torch.fx.experimental.symbolic_shapes
from torch import Tensor, nn


class Layer(nn.Module):
    """x to tanh(x @ weight); its weight may be another layer's as well."""

    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, x: Tensor) -> Tensor:
        """x of shape (examples, in) to (examples, out)."""
        return torch.tanh(x @ self.weight)


class Network(nn.Module):
    """Layers in a row."""

    def __init__(
        self,
        weights: Sequence[Tensor],
        layers: Sequence[int] | None = None,
        frozen: Sequence[int] = (),
        on_backward: Callable[[int], None] | None = None,
    ) -> None:
        """Make the layers.

        Args:
            weights: matrices of shape (in, out); copied.
            layers: for each layer the index of its weight; one that comes twice is tied. All in order by default.
            frozen: indices of weights that need no gradient.
            on_backward: called with k once backward has left layer k, whose gradient is there by then.
        """
        super().__init__()
        self.tied = tuple(
            nn.Parameter(weight.detach().clone(), requires_grad=index not in frozen)
            for index, weight in enumerate(weights)
        )
        """The parameters by the index of their weight, each once."""
        order = range(len(weights)) if layers is None else layers
        self.layers = nn.ModuleList(Layer(self.tied[index]) for index in order)
        self.runs: Sequence[int] = range(len(self.layers))
        """The layers that forward runs, one after the other; the others are unused."""
        self._on_backward = on_backward

    def forward(self, x: Tensor) -> Tensor:
        """x of shape (examples, in of the first layer)."""
        for index in self.runs:
            if self._on_backward is not None:
                x = boundary(x, partial(self._on_backward, index))
            x = self.layers[index](x)
        return x

    def gradients(self) -> list[Tensor | None]:
        """Copies, by the index of the weight; None where there is none."""
        return [None if each.grad is None else each.grad.detach().clone() for each in self.tied]

    def values(self) -> list[Tensor]:
        """Copies of the parameters, by the index of the weight."""
        return [each.detach().clone() for each in self.tied]


def boundary(x: Tensor, on_backward: Callable[[], None]) -> Tensor:
    """x itself; calls the function when its gradient comes by."""
    passed: Tensor = _Boundary.apply(x, on_backward)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return passed


class _Boundary(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, on_backward: Callable[[], None]) -> Tensor:
        ctx.on_backward = on_backward
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None]:
        ctx.on_backward()
        return grad_output, None


def squared_error_sum(output: Tensor, targets: Tensor) -> Tensor:
    """½ Σ (output − targets)², over all examples."""
    return 0.5 * (output - targets).square().sum()


def squared_error_mean(output: Tensor, targets: Tensor) -> Tensor:
    """The same, over the number of examples."""
    return squared_error_sum(output, targets) / len(targets)
