"""What was seen of a submission's kernels, as plain data: launches, traffic, findings, compiled code.

These models cross the wire as JSON. Whatever stands here was measured beside the student's code.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FindingKind = Literal[
    "out_of_bounds_load",
    "out_of_bounds_store",
    "uninitialised_read",
    "race",
    "unwritten_output",
    "modified_input",
    "dot_operands",
    "not_triton",
    "configs_disagree",
    "cuda_only",
    "unseen_write",
]


class Evidence(BaseModel):
    """A frozen record."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Place(Evidence):
    """A line of the student's source."""

    file: str = ""
    """As Python knows it; the judge makes it relative to the submission."""
    line: int = 0
    source: str = ""
    """The line itself, stripped."""


class Finding(Evidence):
    """One fault that the sanitizer saw."""

    kind: FindingKind
    kernel: str = ""
    place: Place = Place()
    program: tuple[int, ...] = ()
    """Program id, (x, y, z)."""
    tensor: str = ""
    index: tuple[int, ...] = ()
    """Of the tensor's dimensions; may lie outside them."""
    message: str
    """Everything in one line, the likely cause and the remedy at its end."""


class TensorTraffic(Evidence):
    """What one launch did to one tensor."""

    tensor: str
    """As the student's function names it: `q`; or the kernel's parameter, `q_ptr`, where it has no such name."""
    parameter: str = ""
    """The kernel's parameter that the accesses came through."""
    shape: tuple[int, ...]
    dtype: str
    read_bytes: int = 0
    """Issued: each element as often as it was loaded, masked-off lanes left out."""
    unique_read_bytes: int = 0
    written_bytes: int = 0
    unique_written_bytes: int = 0
    atomics: int = 0
    """Elements that an atomic touched, counted each time."""


class Launch(Evidence):
    """One launch of one kernel."""

    kernel: str
    place: Place = Place()
    """Where the kernel is defined."""
    grid: tuple[int, ...]
    config: dict[str, Any] = Field(default_factory=dict)
    """Constexpr arguments, num_warps, num_stages."""
    config_index: int = 0
    """0 unless an autotuner ran further configs; totals count index 0 only."""
    config_count: int = 1
    tensors: tuple[TensorTraffic, ...] = ()
    dot_flops: dict[str, int] = Field(default_factory=dict)
    """2·m·n·k of every dot, by the dtype in which the multiplication runs: fp32, tf32, fp16, bf16, fp8."""
    exps: int = 0
    """Elements given to exp, exp2, log, log2, sqrt, rsqrt, sin, cos, tanh, erf, sigmoid: the special-function units."""
    atomics: int = 0


class TorchWork(Evidence):
    """What PyTorch did beside the kernels during the call."""

    ops: dict[str, int] = Field(default_factory=dict)
    """`aten.empty` and so on: how often."""
    peak_temporary_bytes: int = 0
    """Most bytes of storages alive at once that the call made, those that it returns left out."""
    largest_temporary_bytes: int = 0
    largest_temporary_shape: tuple[int, ...] = ()
    computed_elements: int = 0
    """Of PyTorch's arithmetic on what no kernel made: the larger of operands and result, added up over operations."""
    merged_elements: int = 0
    """The same where a kernel made an operand: partial results that the host puts together."""
    brought_bytes: int = 0
    """Of numbers and texts that Python gave to operations, launches and kernels' code, each value once; and two for
    each operation, and each tensor of a launch, past 256."""
    outside_bytes: int = 0
    """Of tensors that the call used and no argument, operation or earlier call made: numpy's arrays, lists, files."""


class CallEvidence(Evidence):
    """Everything seen during one call."""

    launches: tuple[Launch, ...] = ()
    torch: TorchWork = TorchWork()
    findings: tuple[Finding, ...] = ()


class CompiledLaunch(Evidence):
    """One launch, compiled for a GPU that need not be there."""

    kernel: str
    place: Place = Place()
    target: str = "sm_90"
    grid: tuple[int, ...] = ()
    signature: dict[str, str] = Field(default_factory=dict)
    config: dict[str, Any] = Field(default_factory=dict)
    config_index: int = 0
    config_count: int = 1
    compiles: bool
    message: str = ""
    """Why it does not compile, or cannot run on the target; one line that a student can act on."""
    error_place: Place = Place()
    registers: int = 0
    """Of one thread."""
    spill_bytes: int = 0
    """Local memory of one thread, stack included."""
    shared_bytes: int = 0
    """Of one block, static and dynamic."""
    threads: int = 0
    """Of one block."""
    blocks_per_sm: int = 0
    occupancy: float = 0.0
    """Resident warps over the most that an SM holds."""
    limited_by: str = ""
    """registers, shared memory, threads, or blocks."""
    hgmma: int = 0
    """Instructions in the machine code: Hopper's warpgroup matrix multiply."""
    hmma: int = 0
    """The same before Hopper (IMMA, QMMA and DMMA included)."""
    ffma: int = 0
    wide_loads: int = 0
    """Global loads of 16 bytes a thread, TMA and cp.async of 16 bytes."""
    narrow_loads: int = 0
    notes: tuple[str, ...] = ()
    """Each a sentence on what to look at: spills, no tensor cores, narrow loads."""
    ptx: str = ""
    """For the judge, who assembles it again where points depend on it."""
