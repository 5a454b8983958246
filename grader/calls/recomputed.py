"""What the judge recomputes of the evidence that a worker sends: a contradiction is a finding of integrity.

Evidence that holds together can still be forged. This bounds it by what the judge knows without running anything:
shapes, and the machine code that the returned PTX assembles to.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.kernels.compiled.machine_code import ToolError, assemble
from grader.kernels.compiled.targets import UnknownTarget
from grader.kernels.evidence import CallEvidence, CompiledLaunch, TensorTraffic

_ITEM_BYTES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "float16": 2,
    "bfloat16": 2,
    "int32": 4,
    "uint32": 4,
    "float32": 4,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
}
_LARGEST_ITEM_BYTES = 8
# A product of thousands of numbers of thousands of digits takes minutes.
_MOST_DIMS, _LARGEST_DIM = 16, 1 << 40
_MOST_ASSEMBLED, _ASSEMBLING_S = 32, 60.0  # of one call: ptxas takes a tenth of a second for each


def contradiction(evidence: CallEvidence, named: Mapping[str, Any]) -> str:
    """What in the evidence cannot be, in a few words; "" where nothing is.

    Args:
        evidence: of one call.
        named: the arguments that the call named.
    """
    return next(_contradictions(evidence, named), "")


def _contradictions(evidence: CallEvidence, named: Mapping[str, Any]) -> Iterator[str]:
    for launch in evidence.launches:
        counts = [launch.exps, launch.atomics, *launch.dot_flops.values()]
        if min(counts) < 0 or any(size <= 0 for size in launch.grid):
            yield "a count below zero"
        for traffic in launch.tensors:
            yield from _of_one_tensor(traffic, named)
    torch = evidence.torch
    counts = [torch.peak_temporary_bytes, torch.largest_temporary_bytes, *torch.ops.values()]
    if min(counts) < 0 or torch.largest_temporary_bytes > torch.peak_temporary_bytes:
        yield "a temporary larger than the peak"


def _of_one_tensor(traffic: TensorTraffic, named: Mapping[str, Any]) -> Iterator[str]:
    if len(traffic.shape) > _MOST_DIMS or not all(0 <= size <= _LARGEST_DIM for size in traffic.shape):
        yield "a shape that no tensor has"
        return
    elements = math.prod(traffic.shape)
    most_bytes = elements * _ITEM_BYTES.get(traffic.dtype, _LARGEST_ITEM_BYTES)
    pairs = (
        (traffic.unique_read_bytes, traffic.read_bytes),
        (traffic.unique_written_bytes, traffic.written_bytes),
    )
    for unique_bytes, issued_bytes in pairs:
        if not 0 <= unique_bytes <= issued_bytes:
            yield "more unique bytes than issued ones"
        if unique_bytes > most_bytes:
            yield "more bytes of a tensor than it has"
        if issued_bytes and not unique_bytes:
            yield "bytes that are none of the tensor's"
    if traffic.atomics < 0:
        yield "a count below zero"
    given = named.get(traffic.tensor)
    shape = getattr(given, "shape", None)
    if shape is not None and tuple(shape) != traffic.shape:
        yield "another shape than the argument's"


def differs_from_its_ptx(launches: Sequence[CompiledLaunch]) -> str:
    """The first launch whose figures are not those that its PTX assembles to, in a few words; "" where all are.

    Only the first are assembled, and none begun after a minute: PTX can be written that takes long.
    """
    began = time.monotonic()
    for launch in launches[:_MOST_ASSEMBLED]:
        if time.monotonic() - began > _ASSEMBLING_S:
            break
        if not launch.compiles:
            continue
        try:
            found = assemble(launch.ptx, launch.target)
        except (ToolError, UnknownTarget):
            return "PTX that does not assemble"
        for name in ("registers", "spill_bytes", "hgmma", "hmma", "ffma", "wide_loads", "narrow_loads"):
            if getattr(found, name) != getattr(launch, name):
                return f"{name.replace('_', ' ')} other than those of the PTX"
    return ""
