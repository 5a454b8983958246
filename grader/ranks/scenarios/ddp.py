"""Runs a student's `DistributedDataParallel` for a few steps, and sees when its all_reduces start and end."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import distributed_c10d

from ..phases import mark
from .networks import Network, squared_error_mean

_LATE_S = 5.0
"""How long a late rank waits for the others to come through backward; all they have to do takes milliseconds."""
_EARLY_S = 0.4
"""How long it waits on for them to finish, which they cannot do without it."""

MicroBatch = tuple[Tensor, Tensor]


def run(
    student: Callable[..., Any],
    group: Any,
    steps: Sequence[tuple[Sequence[int], Sequence[MicroBatch]]],
    weights: Sequence[Tensor],
    *,
    layers: Sequence[int] | None = None,
    frozen: Sequence[int] = (),
    bucket_bytes: int,
    learning_rate: float = 0.1,
    late: bool = False,
) -> dict[str, Any]:
    """A few steps of gradient descent.

    Args:
        student: the class.
        group: the ranks.
        steps: for each step the layers that this rank uses, and its micro-batches. All but the last of these go
            backward in no_sync.
        weights: of this rank; those of rank 0 should count.
        layers, frozen: as `Network` takes them.
        bucket_bytes: for the student's class.
        learning_rate: of the descent.
        late: the last rank begins the first step's last backward only when the others are through with theirs,
            and then waits a moment more, so that they would wait for it in finish_gradient_synchronization.

    Returns:
        values: the parameters after the construction.
        gradients: of each step.
        through: whether the others came through backward without the late rank; True on the others.
        early: whether they finished without it.

    Phases: "construction"; "no_sync 0" and so on by step; "backward 0", then "backward 0 below 2" once backward
    has left layer 2; "finish 0".
    """
    step_now = 0

    def on_backward(layer: int) -> None:
        if synchronizing:
            mark(f"backward {step_now} below {layer}")

    synchronizing = False
    network = Network(weights, layers, frozen, on_backward)
    mark("construction")
    model = student(network, group=group, bucket_bytes=bucket_bytes)
    mark("")
    report: dict[str, Any] = {"values": network.values(), "gradients": [], "through": True, "early": False}
    waits = late and dist.get_rank(group) == dist.get_world_size(group) - 1
    for step_now, (runs, micro_batches) in enumerate(steps):
        network.runs = runs
        *ahead, last = micro_batches
        mark(f"no_sync {step_now}")
        for inputs, targets in ahead:
            with model.no_sync():
                squared_error_mean(model(inputs), targets).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        loss = squared_error_mean(model(last[0]), last[1])
        if waits and step_now == 0:
            report["through"] = _others_said("through", _LATE_S, group)
            report["early"] = _others_said("finished", _EARLY_S, group)
        synchronizing = True
        mark(f"backward {step_now}")
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        synchronizing = False
        mark(f"finish {step_now}")
        _say("through", step_now, group)
        model.finish_gradient_synchronization()
        # Copied at once: what arrives later is not there for an optimizer either.
        report["gradients"].append(network.gradients())
        _say("finished", step_now, group)
        mark("")
        with torch.no_grad():
            for each in network.tied:
                if each.grad is not None:
                    each.sub_(learning_rate * each.grad)
                    each.grad = None
    return report


def _say(what: str, step: int, group: Any) -> None:
    if step == 0:
        _store().set(f"{what} {dist.get_rank(group)}", "yes")


def _others_said(what: str, seconds: float, group: Any) -> bool:
    keys = [f"{what} {rank}" for rank in range(dist.get_world_size(group) - 1)]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if _store().check(keys):
            return True
        time.sleep(0.005)
    return False


def _store() -> Any:
    """The one that the ranks met at."""
    return distributed_c10d.PrefixStore("scenario", distributed_c10d._get_default_store())
