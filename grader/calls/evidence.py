"""What a worker reports of a submission's kernels, as a test gets it: checked for form, findings made into faults."""

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from grader.calls.faults import KernelFinding
from grader.kernels.evidence import CallEvidence, CompiledLaunch, Finding
from grader.printable import printable
from grader.worker import lanes, wire

_REPORT_BYTES = 8 << 20
_MOST_LAUNCHES = 256  # of one call, configs counted each; both as in grader/worker/lanes.py
_MOST_KERNELS_NAMED = 8

_IN_WORDS = {
    "out_of_bounds_load": "loads from outside of a tensor: mask what lies beyond its end",
    "out_of_bounds_store": "stores outside of a tensor: mask what lies beyond its end",
    "uninitialised_read": "reads memory that nobody has written",
    "race": "two programs write different values to one address",
    "unwritten_output": "leaves a part of its output unwritten",
    "modified_input": "changes a tensor that it was given",
    "dot_operands": "calls tl.dot with operands that a GPU refuses",
    "not_triton": "runs Python in a kernel, where a GPU runs only Triton",
    "configs_disagree": "gives other results with another config of its autotuner",
    "unseen_write": "changes the memory of a tensor past its kernels and PyTorch",
    "cuda_only": "asks for a CUDA device, where it should take the device of its inputs",
}
# Found when the function is through: what it raised on the way says more.
_FOUND_AT_THE_END = {"unwritten_output", "modified_input"}


@dataclass(frozen=True)
class Metered:
    """A value, and what was seen while it was made. Measured in the worker: alone it decides nothing."""

    value: Any
    evidence: CallEvidence


_LAUNCHES: TypeAdapter[tuple[CompiledLaunch, ...]] = TypeAdapter(tuple[CompiledLaunch, ...])


def read_evidence(report: object) -> CallEvidence:
    """The evidence of one call, from the bytes that the worker sent.

    Raises:
        WireTampered: it is not of the agreed form.
    """
    try:
        return CallEvidence.model_validate_json(_bounded(report))
    except ValidationError:
        raise wire.WireTampered("evidence of the wrong form") from None


def watch(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    may_modify: Sequence[str],
    root: Path,
) -> tuple[Any, CallEvidence]:
    """A call in this process with what PyTorch did meanwhile; what the function raises goes through."""
    from grader.kernels.torch_watch import call_watched  # imports torch

    value, evidence, _ = call_watched(function, args, kwargs, may_modify=may_modify, root=str(root.resolve()))
    return value, read_evidence(lanes.as_json(evidence.model_dump(), lanes.relative_to(root)))


def read_launches(report: object) -> tuple[CompiledLaunch, ...]:
    """The compiled launches of one call, from the bytes that the worker sent.

    Raises:
        WireTampered: they are not of the agreed form, or too many.
    """
    try:
        launches = _LAUNCHES.validate_json(_bounded(report))
    except ValidationError:
        raise wire.WireTampered("compiled launches of the wrong form") from None
    if len(launches) > _MOST_LAUNCHES:
        raise wire.WireTampered("more compiled launches than any worker sends")
    return launches


def _bounded(report: object) -> bytes:
    if not isinstance(report, bytes) or len(report) > _REPORT_BYTES:
        raise wire.WireTampered("a report of the wrong form")
    return report


def first_finding(evidence: CallEvidence, may_modify: Sequence[str], raised_too: bool) -> Finding | None:
    """The finding that makes a call fail; None where there is none, or where what it raised says more.

    Args:
        evidence: of the call.
        may_modify: names of the arguments that the function may change.
        raised_too: whether the call raised something of its own.
    """
    for finding in evidence.findings:
        if finding.kind == "modified_input" and finding.tensor in may_modify:
            continue
        if raised_too and finding.kind in _FOUND_AT_THE_END:
            continue
        return finding
    return None


class Sources:
    """The submission's files as the judge reads them: a place that is not in them is no place."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def text(self, file: str) -> str:
        """The text of a file, given relative to the submission; "" for any other path."""
        with contextlib.suppress(OSError, ValueError):
            path = (self._root / file).resolve()
            if path.is_relative_to(self._root) and path.is_file():
                return path.read_text(encoding="utf-8", errors="replace")
        return ""

    def line(self, file: str, line: int) -> str:
        """A line of a file, printable; "" where there is none."""
        lines = self.text(file).split("\n")
        return printable(lines[line - 1].strip(), 200) if 1 <= line <= len(lines) else ""


def finding_fault(function: str, finding: Finding, sources: Sources) -> KernelFinding:
    """The fault that a finding is, with what a student may read of it.

    Args:
        function: the student's function that was called.
        finding: what the sanitizer saw, with a place relative to the submission.
        sources: the submission's files.
    """
    place = finding.place
    line = sources.line(place.file, place.line)
    where = f" at {printable(place.file, 100)}, line {place.line}: {line}" if line else ""
    message = printable(finding.message, 600)
    if f"line {place.line}" in message:
        where = f"\n{printable(place.file, 100)}, line {place.line}: {line}" if line else ""
    # The choice among many kernels or lines could tell a hidden input, and so could the index.
    known = kernels_in(sources.text(place.file))
    named = f"the kernel {finding.kernel} " if finding.kernel in known[:_MOST_KERNELS_NAMED] else "a kernel "
    if finding.kind in _FOUND_AT_THE_END | {"cuda_only", "unseen_write"}:
        named = f"{function} "
    return KernelFinding(
        message + where,
        symptom=f"kernel.{finding.kind}",
        hidden_message=named + _IN_WORDS[finding.kind],
    )


_KERNEL = re.compile(r"@triton\.jit\b")
_DECORATOR = re.compile(r"[ \t]*[@)]")
_DEF = re.compile(r"[ \t]*def[ \t]+([A-Za-z_]\w{0,60})\(")


def kernels_in(text: str) -> list[str]:
    """Names of the functions under `@triton.jit` in a source text, in order."""
    found, under = [], False
    for line in text.split("\n"):
        named = _DEF.match(line) if under else None
        if named:
            found.append(named[1])
        under = bool(_KERNEL.match(line) or (under and _DECORATOR.match(line)))
    return found
