"""AdamW in a few lines, for scenarios: torch's own imports its compiler first, seconds in every rank."""

from collections.abc import Sequence

import torch
from torch import Tensor


class AdamW:
    """Decoupled weight decay and bias correction, as torch.optim.AdamW (Loshchilov and Hutter 2019, algorithm 2)."""

    def __init__(
        self,
        parameters: Sequence[Tensor],
        lr: float = 1e-3,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        self._parameters = list(parameters)
        self._moments = [
            (torch.zeros_like(each).detach(), torch.zeros_like(each).detach()) for each in parameters
        ]
        self._lr, self._betas, self._eps, self._weight_decay = lr, betas, eps, weight_decay
        self._steps = 0

    def step(self) -> None:
        """Update in place; a parameter without a gradient stays as it is."""
        self._steps += 1
        beta1, beta2 = self._betas
        for parameter, (first, second) in zip(self._parameters, self._moments, strict=True):
            gradient, values = parameter.grad, parameter.detach()
            if gradient is None:
                continue
            first.lerp_(gradient, 1 - beta1)
            second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            root = (second / (1 - beta2**self._steps)).sqrt_().add_(self._eps)
            values.mul_(1 - self._lr * self._weight_decay)
            values.addcdiv_(first, root, value=-self._lr / (1 - beta1**self._steps))
