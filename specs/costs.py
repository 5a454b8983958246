"""What an operation costs: FLOPs and HBM bytes, and the table of FLOPs per element that cannot be derived.

A matmul's FLOPs follow from its shape. What a softmax or a norm "costs" per element is a convention: see the table.
"""

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from specs.answer import Answer
from specs.schema import Spec, SpecError, read_yaml, validate
from specs.terms import Number, Terms


class Cost(Answer):
    """One operation's bill: floating-point operations, and bytes moved between HBM and the chip at the least."""

    flops: Number
    bytes_read: Number
    bytes_written: Number

    @property
    def bytes_moved(self) -> int | float:
        """Bytes read and written together."""
        return self.bytes_read + self.bytes_written


OpKind = Literal["matmul", "attention", "memory"]


class OpCost(Answer):
    """An operation of a step: what it is, how often it runs, and what one run of it costs."""

    name: str
    kind: OpKind
    """matmul: weights times activations; attention: scores, softmax and values; memory: everything else."""
    count: int = Field(ge=1)
    """How often the step runs it, over all layers."""
    cost: Cost


class Op(Spec):
    """An operation by the tensors that it touches: for fusion, where it matters which bytes are whose."""

    name: str
    flops: Number
    reads: dict[str, Number]
    """Bytes by tensor name."""
    writes: dict[str, Number]


class FusedCost(Answer):
    """A chain of operations, one kernel each and all in one."""

    before: Cost
    after: Cost


class LaunchTimes(Answer):
    """The time of many small kernels, in seconds."""

    device_s: Number
    """Time that the kernels themselves take."""
    eager_s: Number
    """Time of the chain when the host launches each."""
    graph_s: Number
    """Time of the chain replayed as one CUDA graph."""
    bound: Literal["launch", "device"]
    """What the eager chain waits for."""


class StepTime(Terms):
    """Roofline time of a step by kind of operation, in seconds."""

    matmul: Number
    attention: Number
    memory: Number


class LeverEffect(Answer):
    """What a technique changes, as differences: negative is less."""

    bytes_change: Number
    flops_change: Number


class ElementFlops(Spec):
    """FLOPs per element that are counted for operations whose arithmetic is a matter of convention."""

    name: str
    source: str
    softmax: float
    """Per score: subtract the maximum, exponentiate, add, divide, and the comparison for the maximum."""
    layernorm: float
    rmsnorm: float
    gelu: float
    silu: float
    rope: float
    """Per element of q or k."""
    adamw: float
    """Per parameter."""


ELEMENT_FLOPS_FILE = Path(__file__).parent / "element_flops.yaml"


@cache
def element_flops(name: str = "one-per-operation") -> ElementFlops:
    """The shipped table of that name.

    Raises:
        SpecError: no such table; the message lists those that exist.
    """
    tables = validate(list[ElementFlops], read_yaml(ELEMENT_FLOPS_FILE), ELEMENT_FLOPS_FILE)
    for table in tables:
        if table.name == name:
            found: ElementFlops = table
            return found
    raise SpecError(
        f"element FLOPs {name!r}: no such table, choose one of {', '.join(each.name for each in tables)}"
    )


COSTS: tuple[type[Spec], ...] = (
    Cost,
    OpCost,
    Op,
    FusedCost,
    LaunchTimes,
    StepTime,
    LeverEffect,
    ElementFlops,
)
