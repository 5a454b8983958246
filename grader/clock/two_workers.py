"""The device of a real timing run: a process for the baseline, one for the submission, the judge's clock between.

While the baseline is timed the submission's processes are stopped. Empty calls are made by the baseline's process: a
submission has no say in what is taken off its times. What a submission does wrong in any call, the warm-up's
included, ends the run with the call named.
"""

import math
import random
import time
from collections.abc import Mapping, Sequence

from grader.calls.faults import Fault, Raised, TimedOut
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
"""Times the budget, by which a run is over in any case: between two looks at the budget lie many calls."""


class TwoWorkers:
    """Implements `Device` with two confined processes on one host."""

    def __init__(
        self,
        host: Host,
        baseline: TimedWorker,
        submission: TimedWorker,
        workloads: Mapping[str, AttentionWorkload],
        order: random.Random,
        own_kernels: bool = False,
        budget_s: float = math.inf,
    ) -> None:
        """Both workers have the pools already.

        Args:
            workloads: by a shape's label.
            order: draws the secret inputs.
            own_kernels: PyTorch must not do the submission's work.
            budget_s: for which an honest submission holds the device at most; one that stalls is stopped some time
                after that.
        """
        self._host, self._baseline, self._submission = host, baseline, submission
        self._workloads, self._order, self._own_kernels = workloads, order, own_kernels
        self._called: set[tuple[str, str]] = set()
        self._calls = 0
        self._paused = False
        self._deadline_s = time.monotonic() + PATIENCE * budget_s + FIRST_CALL_S

    def sample(self) -> Sample:
        """Read the host now."""
        ours = [
            pid
            for side in (self._baseline, self._submission)
            for pid in (side.worker.confined.pid, *side.worker.confined.processes())
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
        self._let_run(what == "submission")
        workload = self._workloads[shape.label]
        timed = self._submitted if what == "submission" else self._trusted
        times = []
        for number in range(calls):
            if number:
                self._host.flush()
            times.append(timed(what, workload))
        return times

    def _submitted(self, what: What, workload: AttentionWorkload) -> float:
        self._calls += 1
        which = f"timed call {self._calls} ({workload.shape.label})"
        call = workload.draw(self._order)
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimedOut(f"{which} was not made: the calls before it held the device for too long")
        try:
            took_s, sketched = self._submission.call(
                call, min(self._limit_s(what, workload), left_s), own_kernels=self._own_kernels
            )
            outputs = self._submission.outputs(which)
        except Fault as fault:
            if out_of_memory(fault) and self.sample().neighbours:
                raise OutOfMemory(
                    f"{which} found no memory on the GPU, and another process is on it"
                ) from None
            raise type(fault)(
                f"in {which}: {fault.message}" if which not in fault.message else fault.message,
                symptom=fault.symptom,
                hidden_message=fault.hidden_message,
            ) from None
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

    def _let_run(self, submission: bool) -> None:
        if submission and self._paused:
            self._submission.resume()
        elif not submission and not self._paused and not self._submission.pause():
            raise DeviceError("the submission's processes could not be stopped while the baseline is timed")
        self._paused = not submission


def out_of_memory(fault: Fault) -> bool:
    """Whether a worker found no room on its device."""
    return isinstance(fault, Raised) and "out of memory" in fault.message.lower()


def of_the_baseline(fault: Fault) -> DeviceError:
    """What is wrong with the machine when the trusted side fails."""
    return DeviceLost(f"the baseline failed, which is not your fault: {fault.message}")
