"""What the command asks of a child process, and what the child answers: plain data that crosses as JSON."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from grader.kernel_report.families import Shape
from grader.kernel_report.signatures import Given
from grader.kernels.evidence import CallEvidence, CompiledLaunch, Finding


class Task(BaseModel):
    """One function to look at."""

    model_config = ConfigDict(frozen=True)

    file: Path
    function: str
    shapes: tuple[Given, ...] = ()
    arguments: tuple[str, ...] = ()
    """As typed, `causal=True`."""
    writes: tuple[str, ...] = ()
    """Arguments that the function is there to write to."""
    dtypes: tuple[str, ...] = ("bf16", "fp32")
    """To try in order, until the function accepts one."""
    backward: bool = False
    target: str = "sm_90"
    chosen: int | None = None
    """Number of the candidate to run; None: the first that works."""


class Tensor(BaseModel):
    """Shape and dtype of an argument or a result."""

    model_config = ConfigDict(frozen=True)

    name: str = ""
    shape: Shape
    dtype: str
    """As torch has it, "bfloat16"."""
    bytes: int


class SecondLook(BaseModel):
    """The same function at sizes that no tile divides."""

    model_config = ConfigDict(frozen=True)

    inputs: tuple[Tensor, ...] = ()
    problem: str = ""
    """Why the function did not take them, one line; "" when it ran, or was stopped by a finding."""
    evidence: CallEvidence = CallEvidence()


class Answer(BaseModel):
    """What a child says."""

    model_config = ConfigDict(frozen=True)

    problem: str = ""
    """One line; "" when the function ran, or compiled, to its end."""
    called: bool = False
    """Whether it came as far as a call of the function."""
    chosen: int = 0
    dtype: str = ""
    inputs: tuple[Tensor, ...] = ()
    others: dict[str, Any] = {}
    """The other arguments, defaults included."""
    outputs: tuple[Tensor, ...] = ()
    assumed: str = ""
    refused: tuple[str, ...] = ()
    """What was tried before, and why it did not work."""
    refused_findings: tuple[tuple[str, Finding], ...] = ()
    """(dtype, finding) of each dtype that its kernels do not take, tried before."""
    evidence: CallEvidence = CallEvidence()
    second_look: SecondLook | None = None
    compiled: tuple[CompiledLaunch, ...] = ()
    triton: str = ""
    seconds: float = 0.0
