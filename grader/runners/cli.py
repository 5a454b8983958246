"""The command lines of `grader plausible`, `grader combine` and `grader slurm`: words and options, nothing else."""

from pathlib import Path
from typing import Annotated

import typer

from grader.exports.cli import ReportsArgument


def plausible(
    reports: ReportsArgument,
    submissions: Annotated[
        Path | None,
        typer.Option("--submissions", metavar="DIR", help="Print their paths in this folder instead of ids."),
    ] = None,
) -> None:
    """List the submissions whose kernels are right and whose points for speed are pending: worth GPU minutes."""
    from grader.commands.runner import plausible as run

    raise typer.Exit(run(reports, submissions))


def combine(
    reports: ReportsArgument,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A folder for the reports of both.")],
    timed: Annotated[
        list[Path] | None,
        typer.Option("--timed", metavar="DIR", help="An --out folder of grade on a GPU; repeatable."),
    ] = None,
) -> None:
    """Lay what a GPU machine found out over reports from another machine; same files, kit, seed and level only.

    Exit code 0 when every report has a grade, 3 when one has none.
    """
    from grader.commands.runner import combine as run

    raise typer.Exit(run(reports, timed or [], out))


def slurm(
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="A new file for it [stdout].")
    ] = None,
) -> None:
    """Write a script that grades a cohort as Slurm arrays: correctness on CPU nodes, then times on a GPU's."""
    from grader.commands.runner import slurm as run

    raise typer.Exit(run(out))
