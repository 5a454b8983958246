"""`grader verify`: proves the course and prints who catches which mistake."""

import os
import tempfile
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from grader import cohort
from grader.judges import Order
from grader.kit import Kit
from grader.sandbox import available
from grader.table import points
from grader.verification import merged, prove
from specs.assignment import Assignment

LEGEND = (
    "rows: mistakes; columns: whose hint was shown; numbers: failing checks; 'none': failed without a hint"
)


def run(kit: Kit, only: tuple[str, ...] = ()) -> int:
    """Verify every assignment, or the exercises in `only`; exit code 1 with a line for each fault."""
    problems: list[str] = []
    specs = {
        name: spec
        for name, spec in kit.available().items()
        if not only or any(each.startswith(f"{name}.") for each in only)
    }
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # Processes, since proofs share nothing and pytest cannot run twice in one process at once. Workers are slow:
    # the assignments whose functions run in them are split, and started first.
    shares = {name: cores if _in_workers(spec) else 1 for name, spec in specs.items()}
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        parts = {
            name: [pool.submit(prove, kit, specs[name], only, (index, count)) for index in range(count)]
            for name, count in sorted(shares.items(), key=lambda item: -item[1])
        }
        official = _official(kit, only)
    print(f"{LEGEND}\n")
    for name, spec in specs.items():
        proof = merged([part.result() for part in parts[name]])
        for exercise, rows in proof.confusion.items():
            print("\n".join(matrix(exercise, rows)) + "\n")
        shown = [each for each in spec.exercises if not only or f"{name}.{each.id}" in only]
        worth = sum(each.points for each in shown if not each.extra_credit)
        print(
            f"{name}: {len(shown)} exercises, {points(worth)} points, {proof.checks} checks, "
            f"{proof.mistakes} mistakes, {proof.constants} constants"
        )
        problems += proof.problems
        for each in proof.left_out:
            print(f"not tried: {each} ({name}) needs torch and triton, of which this machine lacks one")
    problems += official
    for problem in problems:
        print(f"WRONG  {problem}")
    print(f"\n{len(problems)} problems" if problems else "\nverified: everything holds")
    return 1 if problems else 0


def _in_workers(spec: Assignment) -> bool:
    return any(exercise.in_worker for exercise in spec.exercises)


def matrix(exercise: str, rows: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Of one exercise: mistakes down, hints across, counts of checks; off the diagonal must be nothing."""
    names = list(rows)
    heads = [*(str(index + 1) for index in range(len(names))), "none"]
    labels = [f"{index + 1:>2} {name}" for index, name in enumerate(names)]
    corner = "mistake \\ whose hint was shown"
    left = max(map(len, [corner, *labels]))
    cells = [[str(rows[name].get(other, ".")) for other in [*names, "-"]] for name in names]
    widths = [max(len(row[column]) for row in [heads, *cells]) for column in range(len(heads))]
    lines = [exercise]
    for label, row in zip([corner, *labels], [heads, *cells], strict=True):
        lines.append(
            f"{label:<{left}}  "
            + " ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        )
    return lines


def _official(kit: Kit, only: tuple[str, ...]) -> list[str]:
    """Stubs and solutions once more, as real submissions with their own process, sandboxed if possible."""
    problems = []
    with tempfile.TemporaryDirectory(prefix="rooflab-verify-") as folder:
        order = Order(kit, Path(folder), "sandbox" if available().ok else "process", b"v" * 32, 2, only)
        names = {
            f"{spec.name}.{exercise.id}": exercise.points
            for spec in kit.available().values()
            for exercise in spec.exercises
        }
        most = sum(value for name, value in names.items() if not only or name in only)
        for row in cohort.grade(order, [kit.solutions, kit.assignments]):
            report = row.report
            if report is None or report.error:
                problems.append(f"official run of {row.id}: {row.note}")
            elif row.id == kit.solutions.name and report.points + report.pending_points < most:
                lost = [
                    each.id
                    for each in report.exercises
                    if each.points + each.pending_points < each.max_points
                ]
                problems.append(
                    f"official run of the solutions: {points(report.points)}, lost in {', '.join(lost)}"
                )
            elif row.id == kit.assignments.name and report.points:
                problems.append(f"official run of the stubs: {points(report.points)} points, should be 0")
    return problems
