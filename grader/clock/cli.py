"""The command lines of `grader bench` and `grader calibrate`: words and options, nothing else."""

from pathlib import Path
from typing import Annotated

import typer

from grader.kit import find_kit


def bench(
    submission: Annotated[
        Path | None,
        typer.Argument(metavar="[SUBMISSION]", help="A folder, whose code is timed [assignments/]."),
    ] = None,
    exercise: Annotated[
        str | None, typer.Argument(metavar="[EXERCISE]", help="A timed one [flash_attention.performance].")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="PATH", help="Picture, .png and .svg are added [bench-EXERCISE-GPU]."),
    ] = None,
) -> None:
    """Time your kernels on this machine's GPU against a baseline: ratio with interval, roofline, what bounds it.

    Runs the code in this process: only your own. Exit code 0 with a result, 1 when a function fails or is unwritten.
    """
    from grader.commands.bench import run

    raise typer.Exit(run(find_kit(), submission, exercise, out))


def calibrate(
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where the row goes, as YAML [stdout].")
    ] = None,
    who: Annotated[
        str | None, typer.Option("--who", metavar="NAME", help="Who answers for the row [the user's name].")
    ] = None,
    alone: Annotated[
        bool, typer.Option("--alone", help="Vouch that nobody else is on the GPU where that cannot be seen.")
    ] = False,
    solutions: Annotated[
        Path | None, typer.Option("--solutions", metavar="DIR", help="Solutions, where they are kept apart.")
    ] = None,
) -> None:
    """Measure this machine's GPU for the thresholds: ceilings, baseline, solution and naive kernels on all shapes.

    Exit code 0 with a row, 1 when the row's own curve does not hold on this card, 2 without a GPU.
    """
    from grader.cli import instructors_kit
    from grader.commands.calibrate import run

    raise typer.Exit(run(instructors_kit(solutions), out, who, alone))
