"""`grader verify`: proves the course and prints who catches which mistake."""

import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from grader import cohort
from grader.kit import Kit
from grader.sandbox import available
from grader.table import points
from grader.verification import Proof, prove


def run(kit: Kit) -> int:
    """Verify every assignment; exit code 0 when all holds, 1 with one line for each thing that does not."""
    console = Console(highlight=False, soft_wrap=True)
    problems: list[str] = []
    for name, spec in kit.available().items():
        proof = prove(kit, spec)
        _print_confusion(proof, console)
        console.print(
            f"{name}: {len(spec.exercises)} exercises, {points(spec.points)} points, {proof.checks} checks, "
            f"{proof.mistakes} mistakes, {proof.constants} constants"
        )
        problems += proof.problems
    problems += _official(kit)
    for problem in problems:
        console.print(f"WRONG  {problem}", markup=False)
    console.print(f"\n{len(problems)} problems" if problems else "\nverified: everything holds")
    return 1 if problems else 0


def _print_confusion(proof: Proof, console: Console) -> None:
    """For each exercise: mistakes down, hints across, counts of checks; off the diagonal there must be nothing."""
    for exercise, rows in proof.confusion.items():
        names = list(rows)
        table = Table(show_edge=False, box=None, pad_edge=False, title=exercise, title_justify="left", title_style="bold")
        table.add_column("the mistake  \\  whose hint was shown")
        for index in range(len(names)):
            table.add_column(str(index + 1), justify="right")
        table.add_column("none", justify="right", style="dim")
        for index, name in enumerate(names):
            cells = [str(rows[name].get(other, ".")) for other in names]
            table.add_row(f"{index + 1:>2} {name}", *cells, str(rows[name].get("-", ".")))
        console.print(table)
        console.print()


def _official(kit: Kit) -> list[str]:
    """Stubs and solutions once more, as real submissions with their own process, sandboxed where that works."""
    problems = []
    with tempfile.TemporaryDirectory(prefix="rooflab-verify-") as folder:
        order = cohort.Order(kit, Path(folder), "sandbox" if available().ok else "process", b"v" * 32, 2)
        most = sum(exercise.points for spec in kit.available().values() for exercise in spec.exercises)
        for row in cohort.grade(order, [kit.solutions, kit.assignments]):
            report = row.report
            if report is None or report.error:
                problems.append(f"official run of {row.id}: {row.note}")
            elif row.id == kit.solutions.name and report.points + report.pending_points < most:
                lost = [each.id for each in report.exercises if each.points + each.pending_points < each.max_points]
                problems.append(f"official run of the solutions: {points(report.points)} of {points(most)} points, lost in {', '.join(lost)}")
            elif row.id == kit.assignments.name and report.points:
                problems.append(f"official run of the stubs: {points(report.points)} points, should be 0")
    return problems
