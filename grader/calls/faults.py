"""What can go wrong when a submission is called, each with the outcome that it means for a check."""

from grader.clock.verdict import TimingVerdict
from grader.outcome import Outcome


class Fault(Exception):
    """A check cannot pass; `outcome` says which kind of no it is, the text is what the student reads."""

    outcome: Outcome = Outcome.FAILED

    def __init__(self, message: str, *, symptom: str = "", hidden_message: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hidden_message = hidden_message or message
        """What a hidden check shows instead, where the submission has a say in the text: it could carry inputs out."""
        self.symptom = symptom
        """Name of a failed property, by which a mistake can be recognised where no value can."""


class CheckFailed(Fault):
    """The value is wrong, or a property does not hold."""


class KernelFinding(CheckFailed):
    """The sanitizer found a fault in a kernel; the symptom is `kernel.<kind>`."""


class Raised(Fault):
    """The student's code raised."""


class Todo(Fault):
    """The stub is untouched, or the file was not handed in."""

    outcome = Outcome.TODO


class Crashed(Fault):
    """The process that ran the submission died."""

    outcome = Outcome.CRASHED


class TimedOut(Fault):
    """The call, or the submission as a whole, took longer than it may."""

    outcome = Outcome.TIMED_OUT


class RanksDisagree(CheckFailed):
    """Ranks called different collectives (symptom `ranks.mismatch`), or a send has no recv (`ranks.unmatched`)."""


class RankDied(Crashed):
    """One of the ranks died; the worker that had started it lives on."""


class RanksHang(TimedOut):
    """Ranks wait for what never comes; the worker lives on. The symptom is `ranks.hang` or `ranks.deadlock`."""


class Tampered(Fault):
    """Something came over the wire that no honest code sends."""

    outcome = Outcome.INTEGRITY


class NeedsTorch(Fault):
    """The exercise needs torch, and this Python has none."""

    outcome = Outcome.NEEDS_TORCH


class NeedsTriton(Fault):
    """The exercise needs triton, and this Python has none, or one that cannot be mended."""

    outcome = Outcome.NEEDS_TRITON


class NeedsGpu(Fault):
    """The check needs a GPU, and this machine has none."""

    outcome = Outcome.NEEDS_GPU


class Slow(Fault):
    """A timed check did not earn all of its points, or nobody can say; the verdict tells."""

    def __init__(self, verdict: TimingVerdict) -> None:
        super().__init__(verdict.reason)
        self.outcome = verdict.check_outcome
