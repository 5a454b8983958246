"""Walks the corpus in a process of its own and prints what it saw, a JSON line for each case and dtype.

python -m tests.kernels.walk correct | broken [NAME ...]     sanitized, TRITON_INTERPRET=1 in the environment
"""

import functools
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.kernels import corpus, oracle

ROOT = Path(__file__).resolve().parents[2]
SEED = 7
CHILD_SECONDS = 300
"""Far above the 30 s that either half takes: a child that hangs fails, it does not stop the suite."""

THE_CHILD = ("the child", "")
"""Key of the row that is there only when the child ended badly."""

Row = dict[str, Any]


@functools.cache
def walked(folder: str) -> dict[tuple[str, str], Row]:
    """What a fresh interpreted child saw, by case and dtype; cases that it did not reach are missing."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.kernels.walk", folder]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=CHILD_SECONDS, check=False
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0:
        rows.append(
            {
                "name": THE_CHILD[0],
                "dtype": THE_CHILD[1],
                "error": f"status {done.returncode}: {done.stderr[-4000:]}",
            }
        )
    return {(row["name"], row["dtype"]): row for row in rows}


def judged(case: corpus.Case, dtype: str, value: Any, inputs: corpus.Inputs) -> Row:
    """Each output of a correct case against its bound: the excess, above 1 where it is wrong."""
    args, kwargs = inputs
    exact = oracle.as_tuple(case.reference(oracle.exact(corpus.DTYPES[dtype]), *args, **kwargs))
    device_like = oracle.as_tuple(case.reference(oracle.Arithmetic(corpus.DTYPES[dtype]), *args, **kwargs))
    got = oracle.as_tuple(value)
    if len(got) != len(exact):
        return {"excess": [], "error": f"{len(got)} tensors in place of {len(exact)}"}
    wrong = {
        name: misjudged(case, dtype, arithmetic, inputs, device_like, exact)
        for name, arithmetic in WRONG.items()
    }
    return {"excess": [excess(*each) for each in zip(got, device_like, exact, strict=True)], "wrong": wrong}


WRONG: dict[str, dict[str, Any]] = {"truncation": {"rounding": "truncate"}, "low_sums": {"low_sums": True}}
"""Arithmetics that the bound must tell from a right one."""


def misjudged(
    case: corpus.Case,
    dtype: str,
    arithmetic: dict[str, Any],
    inputs: corpus.Inputs,
    device_like: tuple[Tensor, ...],
    exact: tuple[Tensor, ...],
) -> float | None:
    """The largest excess of a wrong arithmetic's outputs; None where it changes none (a copy rounds nothing)."""
    args, kwargs = inputs
    wrong = oracle.as_tuple(
        case.reference(oracle.Arithmetic(corpus.DTYPES[dtype], **arithmetic), *args, **kwargs)
    )
    changed = [
        excess(*each)
        for each in zip(wrong, device_like, exact, strict=True)
        if not torch.equal(each[0], each[1])
    ]
    return max(changed, default=None)


def excess(got: Tensor, device_like: Tensor, exact: Tensor) -> float:
    """The largest ratio of an error to its bound; 0 for equal integers, infinite for unequal ones."""
    if got.shape != exact.shape:
        return float("inf")
    if not exact.dtype.is_floating_point:
        return 0.0 if torch.equal(got.cpu().to(torch.int64), exact.to(torch.int64)) else float("inf")
    return oracle.bound_of(device_like, exact).excess(oracle.error_of(got.cpu(), exact))


def correct_rows(chosen: set[str]) -> Iterator[Row]:
    from grader.kernels.recorder import call_recorded

    for case in corpus.correct_cases():
        for dtype in case.dtypes:
            if chosen and case.name not in chosen:
                continue
            inputs = case.make_inputs(corpus.DTYPES[dtype], SEED)
            recorded = call_recorded(case.function, *inputs)
            yield {
                "name": case.name,
                "dtype": dtype,
                "error": text_of(recorded.error),
                "findings": [finding.model_dump() for finding in recorded.evidence.findings],
                "excess": [],
                **({} if recorded.error else judged(case, dtype, recorded.value, inputs)),
            }


def broken_rows(chosen: set[str]) -> Iterator[Row]:
    from grader.kernels.recorder import call_recorded

    for case in corpus.broken_cases():
        for dtype in case.dtypes:
            if chosen and case.name not in chosen:
                continue
            recorded = call_recorded(case.function, *case.make_inputs(corpus.DTYPES[dtype], SEED))
            findings = [finding.model_dump() for finding in recorded.evidence.findings]
            yield {"name": case.name, "dtype": dtype, "error": text_of(recorded.error), "findings": findings}


def text_of(error: BaseException | None) -> str | None:
    """The last lines of an exception's traceback, causes included."""
    return None if error is None else "".join(traceback.format_exception(error))[-3000:]


WALKS: dict[str, Callable[[set[str]], Iterator[Row]]] = {"correct": correct_rows, "broken": broken_rows}

if __name__ == "__main__":
    torch.set_num_threads(1)
    for row in WALKS[sys.argv[1]](set(sys.argv[2:])):
        print(json.dumps(row), flush=True)
