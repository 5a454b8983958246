"""A device without workers: whoever times their own code needs no protection from it. For `grader bench`.

The order of blocks, the fresh inputs, the emptied cache and the check of every output are those of an official run.
What differs: both sides share one process, one CUDA context and one allocator, and an official clock also sees what
it takes to ask a worker, which is taken off as an empty call. Not run on a GPU yet.
"""

import importlib
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from grader.calls.faults import Raised
from grader.calls.runner import STOPS, LocalRunner, Request, raised
from grader.clock.device import DeviceLost, OutOfMemory, Sample, What
from grader.clock.host import Host
from grader.clock.workloads import AttentionWorkload, TimedCall
from grader.worker import load, windows
from specs.timing import TimedShape

Ready = Callable[[], Any]
Side = Callable[[TimedShape, TimedCall], Ready]
"""Takes a call's inputs and makes ready what is timed: everything else happens before."""

FUNCTIONS = {"forward": "flash_forward", "backward": "flash_backward"}
"""What is timed in each direction; called with all inputs and `causal`."""


def of_module(module: ModuleType) -> Side:
    """A module of kernels_ref as a side."""

    def prepare(shape: TimedShape, call: TimedCall) -> Ready:
        function = getattr(module, FUNCTIONS[shape.direction])
        return lambda: function(*call.inputs, shape.causal)

    return prepare


def of_pytorch(shape: TimedShape, call: TimedCall) -> Ready:
    """PyTorch's own attention: FlashAttention on the GPUs that it supports. Backward: the gradient alone."""
    q, k, v, *rest = call.inputs
    shared = shape.heads != shape.kv_heads

    def forward(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return scaled_dot_product_attention(q, k, v, is_causal=shape.causal, enable_gqa=shared)

    if shape.direction == "forward":
        return lambda: forward(q, k, v)
    leaves = [each.detach().requires_grad_() for each in (q, k, v)]
    out = forward(*leaves)
    return lambda: torch.autograd.grad(out, leaves, rest[2])


def of_submission(runner: LocalRunner, requests: Mapping[str, Request]) -> Side:
    """A submission's own functions as a side; `requests` name them by direction.

    Raises:
        Todo, Raised: one of them is a stub, or its file cannot be imported.
    """
    functions = {direction: runner.function(request) for direction, request in requests.items()}

    def prepare(shape: TimedShape, call: TimedCall) -> Ready:
        request, function = requests[shape.direction], functions[shape.direction]

        def ready() -> Any:
            try:
                return function(*call.inputs, shape.causal)
            except STOPS:
                raise
            except BaseException as error:  # a submission may raise anything, SystemExit included
                raise raised(request, load.describe_exception(error, runner.root)) from None

        return ready

    return prepare


def baseline(name: str) -> tuple[str, Side]:
    """The spec's baseline, or PyTorch's attention where the kit's kernels are not: in a student's bundle."""
    try:
        return name, of_module(importlib.import_module(name))
    except ModuleNotFoundError:  # itself, or triton
        return "PyTorch's attention", of_pytorch


class InProcess:
    """Implements `Device` in the judge's own process."""

    def __init__(
        self,
        host: Host,
        workloads: Mapping[str, AttentionWorkload],
        trusted: Side,
        submission: Side,
        order: random.Random,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`workloads` are by a shape's label; `order` draws the inputs."""
        self._host, self._workloads, self._order, self._clock = host, workloads, order, clock
        self._trusted, self._submission = trusted, submission
        self._calls = 0

    def sample(self) -> Sample:
        """Read the host now; nobody but this process is ours."""
        return self._host.sample([os.getpid()])

    def flush_l2(self) -> None:
        """Empty the cache."""
        self._host.flush()

    def time_block(self, what: What, shape: TimedShape, calls: int) -> Sequence[float]:
        """Time `calls` calls, each with inputs of its own; the submission's outputs are checked.

        Raises:
            OutOfMemory, DeviceLost: the baseline failed, or the card did.
            Fault: the submission did.
        """
        workload = self._workloads[shape.label]
        return [self._one(what, workload, flush=number > 0) for number in range(calls)]

    def _one(self, what: What, workload: AttentionWorkload, flush: bool) -> float:
        call = workload.draw(self._order)
        side = self._submission if what == "submission" else self._trusted
        ready: Ready = (lambda: None) if what == "empty" else side(workload.shape, call)
        if flush:
            self._host.flush()
        self._wait()
        try:
            began_s = self._clock()
            value = ready()
            self._wait()
            took_s = self._clock() - began_s
        except RuntimeError as error:  # torch's own, of which running out of memory is one
            why = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            if what == "submission":  # what its kernels did wrong shows where one waits for them
                raise Raised(f"{workload.shape.label}: {why}") from None
            if isinstance(error, torch.OutOfMemoryError):
                raise OutOfMemory(
                    f"the baseline found no memory on the GPU for {workload.shape.label}"
                ) from None
            raise DeviceLost(f"{workload.shape.label}: {why}") from None
        if what == "submission":
            self._calls += 1
            outputs = windows.outputs_of(value)
            sketched = windows.sketch(outputs, call.judged_weights)
            workload.check(call, outputs, sketched, f"timed call {self._calls} ({workload.shape.label})")
        return took_s

    def _wait(self) -> None:
        if self._host.device != "cpu":
            torch.cuda.synchronize(self._host.device)
