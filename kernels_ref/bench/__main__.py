"""`python -m kernels_ref.bench`: a table of attention kernels on this GPU, or what can be said without one."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import torch

from kernels_ref.bench import chart, show
from kernels_ref.bench.cases import CONVENTION, Direction, all_cases
from kernels_ref.bench.clock import ROUNDS, Clock, CudaClock
from kernels_ref.bench.contenders import contenders
from kernels_ref.bench.fingerprint import fingerprint
from kernels_ref.bench.measure import Row, measure
from kernels_ref.tuning import table
from specs.gpu import gpu, gpu_of_device
from specs.schema import SpecError


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure where there is a GPU; else print speed of light and compile report. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m kernels_ref.bench", description=__doc__)
    parser.add_argument(
        "--solutions", type=Path, metavar="DIR", help="folder with forward.py and backward.py to time too"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("reports/bench"), metavar="DIR", help="for JSON and charts"
    )
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="timed calls of each contender (default %(default)s)"
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help='cases whose label has it: "forward causal D 128"'
    )
    parser.add_argument(
        "--gpu", default="h100-sxm", help="without a GPU: whose speed of light (default %(default)s)"
    )
    given = parser.parse_args(arguments)
    if given.rounds < 1:
        parser.error(f"--rounds {given.rounds}: give 1 or more")
    if torch.cuda.is_available():
        return run(given.solutions, given.out, CudaClock(), given.rounds, given.only)
    try:
        print(without_gpu(given.gpu))
    except SpecError as wrong:
        print(wrong, file=sys.stderr)
        return 2
    return 0


def run(solutions: Path | None, out: Path, clock: Clock, rounds: int, only: str, device: str = "cuda") -> int:
    """Time all cases, print a table of each as it is done, and write bench.json and the charts."""
    cases = [case for case in all_cases() if only in case.label]
    if not cases:
        print(f"--only {only!r}: no case has that label; one is {next(all_cases()).label!r}", file=sys.stderr)
        return 2
    seen = fingerprint()
    known = gpu_of_device(seen["gpu"])
    named = dict(contenders(solutions))
    print(f"{seen['gpu']}, torch {seen['torch']}, triton {seen['triton']}\n{CONVENTION}")
    out.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    for case in cases:
        rows += measure(case, named, clock, known, device=device, rounds=rounds)
        print(f"\n{show.measured(rows[-len(named) :])}", flush=True)
        # Written after each case: an hour of a GPU is not lost with its last minute.
        (out / "bench.json").write_text(json.dumps(show.as_json(rows, seen), indent=1) + "\n")
    for direction in get_args(Direction):
        if not any(row.median_s and row.case.direction == direction for row in rows):
            continue
        try:
            chart.draw(rows, direction, seen["gpu"], out / f"{direction}.png")
        except ModuleNotFoundError as missing:
            print(f"no charts: {missing}; pip install matplotlib", file=sys.stderr)
            break
    print(f"\nwritten to {out}")
    return 0


def without_gpu(name: str) -> str:
    """Speed of light and the compile report: nothing that was measured.

    Raises:
        SpecError: specs has no GPU of that name, or it has no bf16 rate.
    """
    report = show.compile_report() if table() else "No compile report is here: see kernels_ref/README.md."
    return "\n\n".join(
        (
            "No GPU is here, so nothing is timed. Below: the least times that data sheets allow, and what the "
            "compiler makes of each kernel for an H100.",
            CONVENTION,
            show.light_of_gpus(),
            show.light_of_cases(gpu(name)),
            report,
        )
    )


if __name__ == "__main__":
    sys.exit(main())
