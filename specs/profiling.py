"""What the profiling exercises take and return: events of a trace, a step's breakdown, what to do about it.

An event is a plain dict as `torch.profiler` writes it in the Chrome trace format: `ph`, `cat`, `name`, `pid`, `tid`,
`ts` and `dur` in microseconds, `args`.
"""

from typing import Any, Literal

from pydantic import Field

from specs.answer import Answer
from specs.schema import Spec
from specs.terms import Number

Event = dict[str, Any]
"""One event of a trace, in the Chrome trace format."""

KernelClass = Literal["matmul", "attention", "memory_bound", "communication", "copy"]
RemedyName = Literal["fine", "fuse", "overlap", "loader", "launch_bound"]

DEVICE_CATEGORIES = ("kernel", "gpu_memcpy", "gpu_memset")
"""`cat` of what runs on a device. `gpu_user_annotation` is the shadow of an annotation, and no work."""


class StepBreakdown(Answer):
    """Where the time of one profiler step went, in seconds."""

    step: int
    """N of `ProfilerStep#N`."""
    duration_s: Number
    """The annotation's own length; the parts below sum to it, but for overlapped_communication_s."""
    matmul_s: Number
    attention_s: Number
    memory_bound_s: Number
    copy_s: Number
    exposed_communication_s: Number
    """Collectives while nothing else runs."""
    overlapped_communication_s: Number
    """Collectives while something else runs: already counted there, and so no part of the sum."""
    idle_data_s: Number
    """The device is idle while the CPU is in the data loader."""
    idle_host_s: Number
    """The device is idle otherwise: the host launches too late, or waits for a result."""

    @property
    def total_s(self) -> int | float:
        """The sum of the parts."""
        return (
            self.matmul_s
            + self.attention_s
            + self.memory_bound_s
            + self.copy_s
            + self.exposed_communication_s
            + self.idle_data_s
            + self.idle_host_s
        )


class Remedy(Answer):
    """What to do about a step, and the figure that says so."""

    name: RemedyName
    share: Number
    """The part of the step's time that this remedy is about, from 0 to 1."""


class TracedModel(Spec):
    """What one step of a traced run trains, on one GPU."""

    parameters: int = Field(gt=0, description="those that take part in a matmul: no token embedding")
    layers: int = Field(gt=0)
    hidden: int = Field(gt=0, description="heads · head_dim")
    sequence: int = Field(gt=0, description="tokens that are trained on as one sequence")
    tokens_per_step: int = Field(gt=0, description="tokens of one step on this GPU, over all its sequences")


class KernelEfficiency(Answer):
    """One operation against its roof."""

    flops: Number
    bytes_moved: Number
    """The fewest: every input read once, the output written once."""
    roofline_s: Number
    """The time that the roofline allows."""
    efficiency: Number
    """roofline_s over the measured time, from 0 to 1."""


PROFILING: tuple[type[Spec], ...] = (StepBreakdown, Remedy, TracedModel, KernelEfficiency)
