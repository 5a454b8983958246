"""The command lines of `grader export` and `grader feedback`: words and options, nothing else."""

from pathlib import Path
from typing import Annotated

import typer

ReportsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="REPORTS...", help="The --out folder of grade, reports in it, or a course."),
]


def export(
    format_name: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="canvas, classroom, csv, github-annotations, github-summary, gradescope, junit, nbgrader "
            "or prairielearn.",
        ),
    ],
    reports: ReportsArgument,
    roster: Annotated[
        Path | None,
        typer.Option("--roster", metavar="CSV", help="The class list; Canvas's gradebook export is one."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Where to; a folder where each report has a file, or the course of nbgrader [stdout].",
        ),
    ] = None,
) -> None:
    """Write grades as a gradebook, a learning platform or a CI system reads them; pending is never 0.

    Exit code 0 when every report is in it, 3 when one has no grade or no student on the roster.
    """
    from grader.commands.export import run

    raise typer.Exit(run(format_name, reports, roster, out))


def feedback(
    reports: ReportsArgument,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A folder a submission goes there.")],
    as_zip: Annotated[bool, typer.Option("--zip", help="All of it in DIR/feedback.zip as well.")] = False,
) -> None:
    """Write a page for each student, HTML and Markdown: what holds, what does not and why, what is pending."""
    from grader.commands.feedback import run

    raise typer.Exit(run(reports, out, as_zip))
