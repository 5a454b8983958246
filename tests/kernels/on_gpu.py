"""The corpus on a real GPU: values against the bounds that the interpreter is held to, code size against the report's.

    python -m tests.kernels.on_gpu > corpus_on_gpu.json

A script, not a test: it needs a CUDA device and TRITON_INTERPRET unset. The JSON has a row for each case and dtype
(`excess` above 1: values beyond the bound) and `disagreements`, which names all that the CPU said otherwise.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import torch

from tests.kernels import corpus
from tests.kernels.walk import ROOT, SEED, Row, judged, text_of

COMPILE_SECONDS = 1800
"""For the report on the whole corpus in one process; correct kernels alone took 560 s on two busy cores."""

Code = list[tuple[str, int, int, int]]
"""Of each kernel compiled: name, registers of a thread, spilled bytes, shared bytes of a block."""


def recording(seen: dict[int, Any]) -> None:
    """From now on, keep every compiled kernel that triton launches."""
    from triton.runtime.jit import JITFunction

    unrecorded: Callable[..., Any] = JITFunction.run

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        kernel = unrecorded(self, *args, **kwargs)
        if kernel is not None:
            seen[id(kernel)] = kernel
        return kernel

    JITFunction.run = run


def code_of(seen: dict[int, Any]) -> Code:
    """As the driver tells after loading; spills come as 32-bit words."""
    return sorted({(k.metadata.name, k.n_regs, 4 * k.n_spills, k.metadata.shared) for k in seen.values()})


def run_correct(case: corpus.Case, dtype: str, seen: dict[int, Any]) -> Row:
    inputs = case.make_inputs(corpus.DTYPES[dtype], SEED)
    seen.clear()
    row: Row = {"name": case.name, "dtype": dtype, "error": None}
    try:
        args, kwargs = corpus.to_device(inputs, "cuda")
        value = case.function(*args, **kwargs)
        torch.cuda.synchronize()
    except Exception as error:  # a kernel that the device refuses is what this script is to list
        return {**row, "error": text_of(error)}
    return {**row, "code": code_of(seen), **judged(case, dtype, value, inputs)}


def run_refused(case: corpus.Broken, dtype: str) -> Row:
    """A kernel that the compiler is to refuse; others of the broken corpus would take the device down."""
    args, kwargs = corpus.to_device(case.make_inputs(corpus.DTYPES[dtype], SEED), "cuda")
    try:
        case.function(*args, **kwargs)
        torch.cuda.synchronize()
    except Exception as error:  # any refusal will do; its text goes into the row
        return {"name": case.name, "dtype": dtype, "refused": True, "error": text_of(error)}
    return {"name": case.name, "dtype": dtype, "refused": False, "error": None}


def report(target: str) -> list[Row]:
    """What the compile-only report says of the corpus, broken kernels in bf16 only; no GPU needed."""
    from grader.kernels.compiled import compile_call

    cases: list[tuple[corpus.Case | corpus.Broken, str]] = [
        (case, dtype) for case in corpus.correct_cases() for dtype in case.dtypes
    ]
    cases += [(broken, "bfloat16") for broken in corpus.broken_cases()]
    rows = []
    for case, dtype in cases:
        args, kwargs = case.make_inputs(corpus.DTYPES[dtype], SEED)
        call = compile_call(case.function, args, kwargs, target=target)
        code = {(one.kernel, one.registers, one.spill_bytes, one.shared_bytes) for one in call.launches}
        refused = [(one.error_place.line, one.message) for one in call.launches if not one.compiles]
        error = text_of(call.error)
        row = {"name": case.name, "dtype": dtype, "code": sorted(code), "refused": refused, "error": error}
        rows.append(row)
    return rows


def report_apart(target: str) -> dict[tuple[str, str], Row]:
    """`report` from a process whose driver is the stand-in."""
    command = [sys.executable, "-m", "tests.kernels.on_gpu", "--report", target]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=True
    )
    return {(row["name"], row["dtype"]): row for row in json.loads(done.stdout)}


def disagreements(rows: list[Row], reported: dict[tuple[str, str], Row]) -> list[str]:
    """Where the device and the CPU's evidence differ, a sentence each."""
    said = []
    for row in rows:
        name = f"{row['name']} in {row['dtype']}"
        if row.get("refused") is False:
            said.append(f"{name}: the interpreter refuses it, the device runs it")
        if "refused" in row:
            continue
        if row["error"]:
            said.append(f"{name}: runs on the CPU, not on the device: {row['error'].splitlines()[-1]}")
            continue
        if not row["excess"] or max(row["excess"]) > 1:
            said.append(f"{name}: values beyond the bound by {row['excess']}")
        there = [list(kernel) for kernel in row["code"]]
        here = [list(kernel) for kernel in reported[row["name"], row["dtype"]]["code"]]
        if there != here:
            said.append(f"{name}: the driver has {there}, the report {here}")
    return said


def main() -> None:
    if sys.argv[1:2] == ["--report"]:
        print(json.dumps(report(sys.argv[2])))
        return
    if not torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET"):
        sys.exit("needs a CUDA device and TRITON_INTERPRET unset")
    seen: dict[int, Any] = {}
    recording(seen)
    rows = [run_correct(case, dtype, seen) for case in corpus.correct_cases() for dtype in case.dtypes]
    refused = [case for case in corpus.broken_cases() if case.kind == "dot_operands"]
    rows += [run_refused(case, dtype) for case in refused for dtype in case.dtypes]
    major, minor = torch.cuda.get_device_capability()
    found = disagreements(rows, report_apart(f"sm_{major}{minor}"))
    device = torch.cuda.get_device_name()
    print(
        json.dumps(
            {"device": device, "torch": torch.__version__, "disagreements": found, "rows": rows}, indent=1
        )
    )


if __name__ == "__main__":
    main()
