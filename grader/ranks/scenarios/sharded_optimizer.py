"""Runs a student's `ShardedOptimizer` for a few steps, and measures what it keeps between them."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor, nn

from ..memory import watched
from ..phases import mark
from .living import Settled


def run(
    student: Callable[..., Any],
    group: Any,
    parameters: Sequence[Tensor],
    gradients: Sequence[Sequence[Tensor | None]],
    order: Sequence[int] | None = None,
    *,
    enough_bytes: int,
    **hyper: Any,
) -> dict[str, Any]:
    """A step for each list of gradients.

    Args:
        student: the class.
        group: the ranks.
        parameters: values at the beginning, the same on all ranks.
        gradients: for each step those of the parameters, the same on all ranks; None where there is none.
        order: the parameters as the optimizer gets them, by index, a tied one several times; each once by default.
        enough_bytes: what may live between steps.
        hyper: lr, betas, eps, weight_decay.

    Returns:
        parameters: after each step.
        state_bytes: what lives between steps and was not there before the optimizer, the largest of all steps.
        cleared: whether zero_grad left no gradient.

    Phases: "construction"; "step 0" and so on.
    """
    held = [nn.Parameter(each.clone()) for each in parameters]
    chosen = [held[index] for index in (range(len(held)) if order is None else order)]
    if "betas" in hyper:
        hyper["betas"] = tuple(hyper["betas"])
    values: list[list[Tensor]] = []
    state_bytes, cleared = 0, True
    with watched(held) as live:
        settled = Settled(live)
        mark("construction")
        optimizer = student(iter(chosen), group=group, **hyper)
        for step, given in enumerate(gradients):
            for each, gradient in zip(held, given, strict=True):
                each.grad = None if gradient is None else gradient.clone()
            mark(f"step {step}")
            optimizer.step()
            mark("")
            optimizer.zero_grad()
            cleared &= all(each.grad is None for each in chosen)
            for each in held:
                each.grad = None
            copied_bytes = sum(copy.nbytes for copies in values for copy in copies)
            state_bytes = max(state_bytes, settled.bytes(copied_bytes + enough_bytes) - copied_bytes)
            values.append([each.detach().clone() for each in held])
    return {"parameters": values, "state_bytes": state_bytes, "cleared": cleared}
