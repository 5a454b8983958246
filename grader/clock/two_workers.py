"""The device of a real timing run: a process for the baseline, one for the submission, the judge's clock between.

While the baseline is timed the submission's processes are stopped. Empty calls are made by the baseline's process: a
submission has no say in what is taken off its times. What a submission does wrong in any call, the warm-up's
included, ends the run with the call named.
"""

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence

import torch

from grader.calls.faults import CheckFailed, Fault, Raised, Tampered, TimedOut
from grader.clock.device import DeviceError, DeviceLost, OutOfMemory, Sample, What
from grader.clock.host import Host
from grader.clock.timed_worker import TimedWorker
from grader.clock.workloads import AttentionWorkload
from specs.timing import TimedShape

FIRST_CALL_S = 120.0
"""Of a side's first call at a shape: compiling, autotuning. It counts as device time."""
CALL_S = 10.0
"""Of any other."""
PATIENCE = 1.5
"""Times the budget, by which the submission's calls are over in any case: between two looks at it lie many calls."""
STILL_S = 0.02
"""CPU seconds that stopped processes may be seen to use: the kernel counts in ticks, and some late."""


class TwoWorkers:
    """Implements `Device` with two confined processes on one host."""

    def __init__(
        self,
        host: Host,
        baseline: TimedWorker,
        start_submission: Callable[[], TimedWorker],
        workloads: Mapping[str, AttentionWorkload],
        order: random.Random,
        own_kernels: bool = False,
        budget_s: float = math.inf,
    ) -> None:
        """The baseline's worker has the pools already.

        Args:
            start_submission: starts the submission's worker and gives it the pools, before its first block: until
                then nothing of it has run, and what the baseline takes alone is nobody's doing.
            workloads: by a shape's label.
            order: draws the secret inputs.
            own_kernels: PyTorch must not do the submission's work.
            budget_s: for which an honest submission holds the device at most; one whose calls take longer than that
                by far is stopped.
        """
        self._host, self._baseline, self._start_submission = host, baseline, start_submission
        self._workloads, self._order, self._own_kernels = workloads, order, own_kernels
        self._submission: TimedWorker | None = None
        self._called: set[tuple[str, str]] = set()
        self._calls = 0
        self._paused_cpu_s: float | None = None
        """CPU seconds that the submission had used when it was stopped; None while it runs."""
        self._left_s = PATIENCE * budget_s + FIRST_CALL_S

    def sample(self) -> Sample:
        """Read the host now."""
        sides = [self._baseline, *([] if self._submission is None else [self._submission])]
        ours = [
            pid for side in sides for pid in (side.worker.confined.pid, *side.worker.confined.processes())
        ]
        return self._host.sample(ours)

    def flush_l2(self) -> None:
        """Empty the cache that everybody shares."""
        self._host.flush()

    def time_block(self, what: What, shape: TimedShape, calls: int) -> Sequence[float]:
        """Time `calls` calls, each with inputs of its own, and check what each returned.

        Raises:
            OutOfMemory, DeviceLost: the baseline failed, or the card is somebody else's too.
            Fault: the submission did.
        """
        workload = self._workloads[shape.label]
        try:
            if what != "submission":
                self._stand_still()
                times = self._each(lambda: self._trusted(what, workload), calls)
                self._stood_still()
                return times
            submission = self._let_run()
            return self._each(lambda: self._submitted(submission, workload), calls)
        except torch.OutOfMemoryError as error:  # the judge's own, for an answer to compare with
            raise OutOfMemory(f"the judge found no memory on the GPU for {shape.label} ({error})") from None

    def _each(self, timed: Callable[[], float], calls: int) -> list[float]:
        times = []
        for number in range(calls):
            if number:
                self._host.flush()
            times.append(timed())
        return times

    def _submitted(self, submission: TimedWorker, workload: AttentionWorkload) -> float:
        self._calls += 1
        which = f"timed call {self._calls} ({workload.shape.label})"
        call = workload.draw(self._order)
        if self._left_s <= 0:
            raise TimedOut(f"{which} was not made: the calls before it took too long together")
        began_s = time.monotonic()
        try:
            took_s, sketched = submission.call(
                call,
                min(self._limit_s("submission", workload), self._left_s),
                own_kernels=self._own_kernels,
            )
            outputs = submission.outputs(which)
        except Fault as fault:
            now = self.sample()  # raises where the card is lost or reads its memory wrong: nobody's fault
            if out_of_memory(fault) and now.neighbours:
                raise OutOfMemory(
                    f"{which} found no memory on the GPU, and another process is on it"
                ) from None
            raise type(fault)(
                f"in {which}: {fault.message}" if which not in fault.message else fault.message,
                symptom=fault.symptom,
                hidden_message=fault.hidden_message,
            ) from None
        finally:
            self._left_s -= time.monotonic() - began_s
        workload.check(call, outputs, sketched, which)
        return took_s

    def _trusted(self, what: What, workload: AttentionWorkload) -> float:
        call = workload.draw(self._order)
        first = ("baseline", workload.shape.label) not in self._called
        try:
            took_s, sketched = self._baseline.call(
                call, self._limit_s(what, workload), empty=what == "empty", own_kernels=self._own_kernels
            )
            if first:
                workload.check(call, self._baseline.outputs("the baseline"), sketched, "the baseline")
        except Fault as fault:
            if out_of_memory(fault):
                raise OutOfMemory(
                    f"the baseline found no memory on the GPU for {workload.shape.label}"
                ) from None
            raise of_the_baseline(fault) from None
        return took_s

    def _limit_s(self, what: What, workload: AttentionWorkload) -> float:
        key = ("baseline" if what == "empty" else what, workload.shape.label)
        first = key not in self._called
        self._called.add(key)
        return FIRST_CALL_S if first else CALL_S

    def _let_run(self) -> TimedWorker:
        """The submission's worker, running."""
        if self._submission is None:
            self._submission = self._start_submission()
        elif self._paused_cpu_s is not None:
            self._stood_still()
            self._submission.resume()
        self._paused_cpu_s = None
        return self._submission

    def _stand_still(self) -> None:
        """Stop the submission's processes, if there are any yet.

        Raises:
            CheckFailed: one of them cannot be stopped; honest ones can.
        """
        if self._submission is None or self._paused_cpu_s is not None:
            return
        if not self._submission.pause():
            raise CheckFailed(
                "a process of the submission cannot be stopped while the baseline is timed",
                symptom="timed.runs_on",
            )
        self._paused_cpu_s = self._submission.worker.confined.cpu_s()

    def _stood_still(self) -> None:
        """Look whether a stopped submission used the cores all the same.

        Raises:
            Tampered: it did, by a signal that it had sent to itself, say.
        """
        if self._submission is None or self._paused_cpu_s is None:
            return
        ran_s = self._submission.worker.confined.cpu_s() - self._paused_cpu_s
        if ran_s > STILL_S:
            raise Tampered(f"its processes ran for {ran_s:.2f} s while they were stopped for the baseline")


def out_of_memory(fault: Fault) -> bool:
    """Whether a worker found no room on its device."""
    return isinstance(fault, Raised) and "out of memory" in fault.message.lower()


def of_the_baseline(fault: Fault) -> DeviceError:
    """What is wrong with the machine when the trusted side fails."""
    return DeviceLost(f"the baseline failed, which is not your fault: {fault.message}")
