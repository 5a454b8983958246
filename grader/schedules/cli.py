"""The command line of `grader schedule`: words and options, nothing else."""

from pathlib import Path
from typing import Annotated

import typer

from grader.kit import find_kit


def schedule(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE:FUNCTION]",
            help="Called as pipeline_schedule is [pipeline_schedule of assignments/].",
        ),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help="gpipe or 1f1b; repeatable [both].")
    ] = None,
    stages: Annotated[int, typer.Option("--stages", min=1, help="Stages of the pipeline.")] = 4,
    microbatches: Annotated[int, typer.Option("--microbatches", min=1, help="Of one step.")] = 8,
    forward: Annotated[float, typer.Option("--forward", metavar="TIME", help="Of a forward pass.")] = 1,
    backward: Annotated[float, typer.Option("--backward", metavar="TIME", help="Of a backward pass.")] = 2,
    submission: Annotated[
        Path | None, typer.Option("--submission", metavar="DIR", help="Whose code [assignments/].")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="PATH", help="Picture, .png and .svg are added [schedule-...]."),
    ] = None,
) -> None:
    """Simulate and draw a pipeline schedule of your own: makespan, bubble, activations, a Gantt chart.

    Exit code 0 when it can run, 1 when it cannot or is still to be written.
    """
    from grader.commands.schedule import run

    raise typer.Exit(
        run(find_kit(), target, kind or [], stages, microbatches, forward, backward, submission, out)
    )
