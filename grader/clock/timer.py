"""Times one submission: finds its threshold, starts both sides, has them graded, and remembers earlier attempts."""

import contextlib
import importlib.metadata
import math
import random
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from grader.calls.faults import Fault, NeedsGpu
from grader.calls.official import stage_baseline
from grader.calls.runner import Lane, Request
from grader.calls.worker import Worker
from grader.clock.device import DeviceError, OutOfMemory
from grader.clock.grading import Plan, could_not, grade
from grader.clock.host import Host
from grader.clock.timed_worker import SharedMemory, TimedWorker
from grader.clock.two_workers import TwoWorkers, of_the_baseline, out_of_memory
from grader.clock.verdict import TimingVerdict, key_of
from grader.clock.workloads import AttentionWorkload, draw_pools, in_pytorch, in_triton
from grader.sandbox import Level, Limits
from specs.assignment import Assignment, Exercise
from specs.timing import Threshold, TimedShape, Timing

LIMITS = Limits(
    memory_bytes=16 << 30,
    processes=64,
    disk_bytes=1 << 30,
    open_files=1024,
    cpu_s=1200,
    address_space_headroom_bytes=None,
)
"""Of a timed worker: CUDA's context takes gigabytes of the host, and its driver reserves terabytes of addresses."""


@dataclass(frozen=True)
class Sides:
    """Where both processes of a timing run find their code, and how they are confined."""

    kit_view: Path
    """What a submission may see of the kit."""
    submission: Path
    scratch: Path
    """A folder of the judge's own, for the baseline's code."""
    level: Level
    hide: tuple[Path, ...] = ()
    devices: tuple[Path, ...] = ()
    """Of the GPU, below /dev."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Of both processes: which of several GPUs is the only one that they see."""


@dataclass
class Timer:
    """Times the functions of one submission on one host."""

    host: Host
    sides: Sides
    earlier: Mapping[str, TimingVerdict] = field(default_factory=dict)
    """By `key_of` exercise and check: verdicts of earlier attempts; those that are decided stay."""
    accept_unmeasured: bool = False
    """Whether a threshold that nobody has measured on such a card decides points: the instructor's choice."""
    plan: Plan = field(default_factory=Plan)
    wait_s: float = math.inf
    """How long to wait at most for a card that another run holds."""
    order: Callable[[], random.Random] = random.SystemRandom
    """Draws secret inputs and the secret order."""

    def time(
        self, spec: Assignment, exercise: Exercise, file: str, function: str, direction: str, check: str
    ) -> TimingVerdict:
        """The verdict on one function at the shapes of one direction.

        Args:
            file: the editable file that holds the function.
            check: the name of the check that asks, under which and the exercise an earlier attempt is found.

        Raises:
            NeedsGpu: there is no threshold for this card that may decide points.
            Fault: what the submission did wrong in a timed call.
        """
        before = self.earlier.get(key_of(f"{spec.name}.{exercise.id}", check))
        if before is not None and before.next != "requeue":
            return before
        timing = exercise.timing
        if timing is None:
            raise ValueError(f"{spec.name}.{exercise.id} has no `timing` in its spec")
        threshold = self._threshold(timing)
        shapes = [shape for shape in timing.shapes if shape.direction == direction]
        request = Request(spec.name, file, function)
        # The budget is the submission's: a direction gets its shapes' share of it.
        share = len(shapes) / len(timing.shapes)
        # So are the odds of an error: both directions together have those of the plan.
        plan = self.plan.model_copy(
            update={"budget_s": self.plan.budget_s * share, "alpha": self.plan.alpha * share}
        )
        attempt = before.attempt + 1 if before is not None else 1
        verdict = self._graded(exercise, timing, threshold, shapes, request, plan, attempt)
        return verdict.model_copy(update={"fingerprint": self._fingerprint(timing)})

    def _fingerprint(self, timing: Timing) -> dict[str, str]:
        versions = {}
        for library in ("torch", "triton"):
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                versions[library] = importlib.metadata.version(library)
        return {**self.host.fingerprint(), **versions, "spec_sha256": timing.sha256}

    def _graded(
        self,
        exercise: Exercise,
        timing: Timing,
        threshold: Threshold,
        shapes: Sequence[TimedShape],
        request: Request,
        plan: Plan,
        attempt: int,
    ) -> TimingVerdict:
        try:
            with (
                self.host.exclusive(self.wait_s),
                Run(self.host, self.sides, timing.baseline, request, shapes, self.order()) as run,
            ):
                return grade(
                    run.device("triton" in exercise.needs, plan.budget_s),
                    self.host.gpu,
                    shapes,
                    threshold,
                    attempt=attempt,
                    plan=plan,
                    order=self.order(),
                )
        except DeviceError as error:  # before anything was measured
            return could_not(str(error), attempt, plan)

    def _threshold(self, timing: Timing) -> Threshold:
        card = self.host.gpu.name
        if timing.status(card) == "none":
            known = ", ".join(sorted(timing.thresholds)) or "none yet"
            raise NeedsGpu(
                f"no threshold for this card ({card}; there are thresholds for: {known}): the points stay pending"
            )
        threshold = timing.curve(card, accept_unmeasured=self.accept_unmeasured)
        if threshold is None:
            raise NeedsGpu(
                f"the threshold for {card} was never measured on such a card: the points stay pending, unless the "
                "instructor grades with --accept-unmeasured"
            )
        return threshold


class Run:
    """Both workers of one timing run, staged; ended with it."""

    def __init__(
        self,
        host: Host,
        sides: Sides,
        baseline: str,
        request: Request,
        shapes: Sequence[TimedShape],
        order: random.Random,
    ) -> None:
        self._host, self._sides, self._baseline, self._request = host, sides, baseline, request
        self._shapes, self._order = shapes, order
        self._open = contextlib.ExitStack()

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(
            RuntimeError
        ):  # a process that the kernel keeps: what was found out still counts
            self._open.close()

    def device(self, own_kernels: bool, budget_s: float = math.inf) -> TwoWorkers:
        """Start the baseline and give it the pools; the submission's side starts when it is first called."""
        sides, device = self._sides, self._host.device
        try:
            pools = draw_pools(self._shapes, device)
        except torch.OutOfMemoryError as error:
            raise OutOfMemory(f"the judge found no memory on the GPU for the inputs ({error})") from None
        folder = sides.scratch / f"baseline-{secrets.token_hex(4)}"
        view, root = stage_baseline(sides.kit_view, folder, self._baseline, self._request)
        try:
            baseline = self._start(view, root, sides.hide)
            baseline.give_pools(pools)
        except Fault as fault:
            raise of_the_baseline(fault) from None

        def start_submission() -> TimedWorker:
            try:
                submission = self._start(sides.kit_view, sides.submission, sides.hide)
                submission.give_pools(pools)
            except Fault as fault:
                if out_of_memory(fault):
                    raise OutOfMemory("there is no room on the GPU for the inputs of both sides") from None
                raise
            return submission

        trusted = in_pytorch() if device == "cpu" else in_triton()
        workloads = {shape.label: AttentionWorkload(shape, pools, trusted) for shape in self._shapes}
        return TwoWorkers(
            self._host, baseline, start_submission, workloads, self._order, own_kernels, budget_s
        )

    def _start(self, view: Path, root: Path, hide: Sequence[Path]) -> TimedWorker:
        memory = SharedMemory(max(map(_output_bytes, self._shapes)))
        self._open.callback(memory.close)
        lane: Lane = "timed"

        def start(descriptor: int) -> Worker:
            return Worker(
                view,
                root,
                self._sides.level,
                LIMITS,
                hide,
                (),
                lane,
                shared=descriptor,
                devices=self._sides.devices,
                variables=self._sides.variables,
            )

        device = self._host.device
        worker = TimedWorker(start, self._request, memory, device, "cpu" if device == "cpu" else "cuda:0")
        self._open.callback(worker.close)
        return worker


def _output_bytes(shape: TimedShape) -> int:
    """Room for all outputs of a call, were they in fp32."""
    rows = shape.batch * shape.heads * shape.tokens
    keys = shape.batch * shape.kv_heads * shape.tokens
    return 4 * (rows * (shape.head_dim + 1) + 2 * keys * shape.head_dim)
