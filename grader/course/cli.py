"""The command lines of a course: words and options, nothing else."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

CourseArgument = Annotated[
    Path, typer.Argument(metavar="COURSE_DIR", help="A course's folder, made by `grader notebooks`.")
]

SubmissionsArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[SUBMISSION...]", help="Folders or zip files, one a student."),
]
GradebookOption = Annotated[
    Path | None,
    typer.Option(
        "--gradebook",
        metavar="COURSE_DIR",
        help="Into this course's gradebook, with all that lies in its submitted/.",
    ),
]


def what_is_missing(submissions: Sequence[Path] | None) -> str:
    """Of `grader grade` without a course."""
    if submissions:
        return "missing option '--out'; grader grade --help shows how it goes"
    return "missing argument 'SUBMISSION...' and '--out', or '--gradebook'; grader grade --help shows how it goes"


def into_gradebook(
    directory: Path, submissions: Sequence[Path], jobs: int | None, other_options: Mapping[str, object]
) -> int:
    """`grader grade --gradebook`; the exit code."""
    from grader.commands.gradebook import run
    from grader.refusal import BadInput

    for name, value in other_options.items():
        if value not in (None, [], "sandbox"):
            raise BadInput(f"--{name} with --gradebook: course.yaml says that, not the command line")
    return run(directory, submissions, jobs)


def notebooks(
    directory: Annotated[Path, typer.Argument(metavar="COURSE_DIR", help="Where to; made if need be.")],
    solutions: Annotated[
        Path | None,
        typer.Option(
            "--solutions", metavar="DIR", help="Solutions and hidden tests, where they are kept apart."
        ),
    ] = None,
) -> None:
    """Write an nbgrader course: a source notebook an assignment, its configuration, an empty course.yaml.

    Then `nbgrader generate_assignment memory` there. Run again, it writes what has changed in the solutions.
    """
    from grader.cli import instructors_kit
    from grader.commands.notebooks import run

    raise typer.Exit(run(instructors_kit(solutions), directory))


def collect(
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="canvas, classroom, folder or gradescope.")
    ],
    archive: Annotated[
        Path, typer.Argument(metavar="ARCHIVE", help="What the platform gave, a zip or a folder.")
    ],
    course: CourseArgument,
    assignment: Annotated[str, typer.Option("--assignment", metavar="NAME", help="memory, say.")],
    roster: Annotated[
        Path,
        typer.Option("--roster", metavar="CSV", help="The class list; Canvas's gradebook export is one."),
    ],
) -> None:
    """Sort a platform's download into COURSE_DIR/submitted by student, with the times of submission.

    canvas: "Download Submissions". Files are called student_LATE_userid_submissionid_file, without LATE_ where it is
    not: amaraokafor_1201_77_memory.ipynb. userid is the roster's ID; the time is that of the
    student's newest entry of the zip.

    gradescope: "Export Submissions". People and times are those of submission_metadata.yml.

    classroom: a folder of repositories, memory-amara/. Times are those of GitHub's grades CSV beside them, else of the
    newest file.

    folder: amara/, amara.zip or amara.ipynb, called by any id of the roster. The time is when the newest file was
    changed (its mtime): copying may make everybody late.

    Times in a zip have no zone and are taken as UTC. Each is in submitted/<student>/<assignment>/timestamp.txt, to be
    put right by hand.

    Exit code 0 when all of it is somebody's work, 3 when some is not, or holds no notebook and no .py file: it is
    listed, and so is who sent nothing.
    """
    from grader.commands.collect import run
    from grader.kit import find_kit

    raise typer.Exit(run(find_kit(), format_name, archive, course, assignment, roster))


EntryArgument = Annotated[
    Path,
    typer.Argument(metavar="REPORT", help="An entry: COURSE_DIR/ledger/<assignment>/<student>/<number>."),
]
CourseOption = Annotated[
    Path, typer.Option("--course", metavar="COURSE_DIR", help="The course's folder [the working folder].")
]


def show(
    report: EntryArgument,
    exercise: Annotated[str, typer.Argument(metavar="EXERCISE", help="memory.parameter_count, say.")],
) -> None:
    """For staff: what each check of an exercise asked, got and expected, hidden ones included, and stderr."""
    from grader.commands import appeals

    raise typer.Exit(appeals.show(report, exercise))


def replay(report: EntryArgument) -> None:
    """Grade an entry of the ledger again from its files and seed.

    Exit code 0 when the grade is the same, 1 when it is not: then it says what has changed since.
    """
    from grader.commands import appeals

    raise typer.Exit(appeals.replay(report))


def override(
    student: Annotated[str, typer.Argument(metavar="ID", help="The student's folder in the ledger.")],
    exercise: Annotated[str, typer.Argument(metavar="EXERCISE", help="memory.parameter_count, say.")],
    reason: Annotated[str, typer.Option("--reason", metavar="R", help="Why; the student's page says it.")],
    by: Annotated[str, typer.Option("--by", metavar="WHO", help="Who decides.")],
    points: Annotated[
        float | None, typer.Option("--points", metavar="P", help="What it is worth, before lateness.")
    ] = None,
    withdrawn: Annotated[
        bool, typer.Option("--withdraw", help="Take the decision back: the grader's points count again.")
    ] = False,
    course: CourseOption = Path(),
) -> None:
    """Give an exercise points by hand: in the ledger for good, in every export, whatever a regrade says."""
    from grader.commands import appeals
    from grader.refusal import BadInput

    if withdrawn is (points is not None):
        raise BadInput("override: give --points P, or --withdraw to take a decision back")
    if points is None:
        raise typer.Exit(appeals.withdraw(course, student, exercise, reason, by))
    raise typer.Exit(appeals.override(course, student, exercise, points, reason, by))


def regrade(
    course: CourseArgument,
    changed: Annotated[
        bool, typer.Option("--changed", help="What was graded with another kit, seed or library than now.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Enter it; without this nothing is written.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Submissions graded at once [one a core].")
    ] = None,
) -> None:
    """After a change of a test or a threshold: who would move by how much, then, with --write, move them."""
    from grader.commands import appeals
    from grader.refusal import BadInput

    if not changed:
        raise BadInput("regrade: say --changed; what has not changed gives the same grade again")
    raise typer.Exit(appeals.regrade(course, write, jobs))


def gradescope_zip(
    assignment: Annotated[str, typer.Argument(metavar="ASSIGNMENT", help="memory, say.")],
    out: Annotated[Path, typer.Option("--out", metavar="ZIP", help="Where to.")],
    solutions: Annotated[
        Path | None,
        typer.Option(
            "--solutions", metavar="DIR", help="Solutions and hidden tests, where they are kept apart."
        ),
    ] = None,
) -> None:
    """Write a complete Gradescope autograder of one assignment, which says how far it confines a submission."""
    from grader.cli import instructors_kit
    from grader.commands.gradescope_zip import run

    raise typer.Exit(run(instructors_kit(solutions), assignment, out))


WORDS = (notebooks, collect, show, replay, override, regrade, gradescope_zip)
