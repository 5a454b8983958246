"""The `grader` command: every word that it takes, and one line for everything that is wrong with it."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

import grader
from grader.clock import cli as timing_commands
from grader.course import cli as courses
from grader.exports import cli as grades_out
from grader.kit import Kit, KitNotFound, check_specs, find_exercise, find_kit
from grader.own_process import end_interrupted, hear_sigterm, open_standard_descriptors
from grader.printable import printable
from grader.refusal import INTERRUPTED, USAGE_ERROR, BadInput
from grader.runners import cli as runners
from grader.schedules import cli as schedules
from specs.schema import SpecError

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

SolutionsOption = Annotated[
    Path | None,
    typer.Option("--solutions", metavar="DIR", help="Solutions and hidden tests, where they are kept apart."),
]
WorkOption = Annotated[
    Path | None, typer.Option("--submission", metavar="DIR", help="Whose code [assignments/].")
]


# Base of what typer raises for a wrong command line. Not imported from click: newer typers bring their own.
_WrongUsage: type[Exception] = typer.BadParameter.__mro__[1]


def main() -> NoReturn:
    """Run the command; a mistake of the caller's is one line on stderr and exit code 2."""
    open_standard_descriptors()
    hear_sigterm()
    if len(sys.argv) < 2:
        sys.argv.append("--help")
    try:
        # Else typer prints its errors itself, over several lines.
        code = app(prog_name="grader", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # what newer typers make of Ctrl-C
            raise KeyboardInterrupt
    except (BadInput, KitNotFound, SpecError) as error:
        _refuse(str(error))
    except _WrongUsage as error:
        _refuse(_usage(error))
    except (KeyboardInterrupt, typer.Abort):
        end_interrupted()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        _refuse(f"{error.filename or 'the system'}: {error.strerror or error}")
    sys.exit(code)


def _refuse(message: str) -> NoReturn:
    print(f"grader: {printable(message, 2000)}", file=sys.stderr)
    sys.exit(USAGE_ERROR)


def _usage(error: Any) -> str:
    """What is wrong with the command line, and which help says how it goes."""
    command = error.ctx.command_path if error.ctx is not None else "grader"
    message = error.format_message().rstrip(".")
    return f"{message[:1].lower()}{message[1:]}; {command} --help shows how it goes"


def instructors_kit(solutions: Path | None) -> Kit:
    """The kit with its solutions; refuses a student's bundle, and a folder that lacks a solution."""
    kit = find_kit(solutions=solutions)
    if not kit.has_solutions:
        raise BadInput(
            f"{kit.solutions}: no solutions here, this needs the instructor's kit (or pass --solutions DIR)"
        )
    wanted = [f"{name}/{file}" for name, files in kit.editable().items() for file in files]
    missing = [name for name in wanted if not (kit.solutions / name).is_file()]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise BadInput(f"{kit.solutions}: not the solutions, {missing[0]}{more} missing")
    check_specs()
    return kit


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"rooflab {grader.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Grades submissions of the Rooflab exercises, and helps with doing them."""


@app.command()
def grade(
    submissions: courses.SubmissionsArgument = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where reports go.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="EXERCISE", help="Grade this exercise only; repeatable."),
    ] = None,
    isolation: Annotated[
        str,
        typer.Option(
            "--isolation", metavar="LEVEL", help="sandbox, user (as root), or process for trusted code."
        ),
    ] = "sandbox",
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Submissions graded at once [one a core].")
    ] = None,
    seed_file: Annotated[
        Path | None, typer.Option("--seed-file", help="The course's secret seed [.rooflab/course-seed].")
    ] = None,
    timing: Annotated[
        bool, typer.Option("--timing/--no-timing", help="Whether to time on the GPU, where there is one.")
    ] = True,
    accept_unmeasured: Annotated[
        bool,
        typer.Option(
            "--accept-unmeasured", help="Give points by thresholds that nobody measured on this card."
        ),
    ] = False,
    alone: Annotated[
        bool, typer.Option("--alone", help="Vouch that nobody else is on the GPU, where that cannot be seen.")
    ] = False,
    solutions: SolutionsOption = None,
    gradebook: courses.GradebookOption = None,
) -> None:
    """Grade submissions in a sandbox with the hidden tests: a report each, DIR/summary.csv and a table.

    Exit code 0 when all were graded, 3 when some could not be. Run again, it skips what has not changed.
    """
    if gradebook is not None:
        other = {"out": out, "only": only, "isolation": isolation, "seed-file": seed_file}
        other |= {"solutions": solutions}
        raise typer.Exit(courses.into_gradebook(gradebook, submissions or [], jobs, other))
    from grader.commands.grade import Timed, run

    if not submissions or out is None:
        raise BadInput(courses.what_is_missing(submissions))
    kit = instructors_kit(solutions)
    timed = Timed(accept_unmeasured, alone) if timing else None
    raise typer.Exit(run(kit, submissions, out, _exercises(only), isolation, jobs, seed_file, timed))


def _exercises(names: list[str] | None) -> tuple[str, ...]:
    """Full names of the exercises asked for, each once."""
    found = [find_exercise(name) for name in names or []]
    return tuple(dict.fromkeys(f"{spec.name}.{exercise.id}" for spec, exercise in found))


@app.command()
def verify(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="EXERCISE", help="Prove this exercise only; repeatable."),
    ] = None,
    solutions: SolutionsOption = None,
) -> None:
    """Prove the course itself: stubs earn 0, solutions full marks, each mistake gets its own hint."""
    from grader.commands.verify import run

    raise typer.Exit(run(instructors_kit(solutions), _exercises(only)))


@app.command()
def stubs(solutions: SolutionsOption = None) -> None:
    """Write the students' stubs anew from solutions/."""
    from grader.stubs import write_stubs

    kit = instructors_kit(solutions)
    changed = write_stubs(kit)
    for path in changed:
        print(f"wrote {path.relative_to(kit.root)}")
    if not changed:
        print("all stubs are up to date")


@app.command()
def hint(
    exercise: Annotated[str, typer.Argument(metavar="EXERCISE", help="memory.parameter_count, say.")],
    again: Annotated[bool, typer.Option("--again", help="Show the stages seen so far, no new one.")] = False,
    submission: WorkOption = None,
) -> None:
    """Show the next hint for an exercise, one stage more each time."""
    from grader.commands.learn import show_hint

    show_hint(find_kit(), *find_exercise(exercise), again=again, submission=submission)


@app.command(name="next")
def next_exercise(
    assignment: Annotated[
        str | None, typer.Argument(metavar="[ASSIGNMENT]", help="Only in this one, such as roofline.")
    ] = None,
    submission: WorkOption = None,
    track: Annotated[str, typer.Option("--track", help="core leaves the extra credit out.")] = "full",
) -> None:
    """Say which exercise to do next, and where the handout explains it."""
    from grader.commands.learn import show_next

    if track not in ("core", "full"):
        raise BadInput(f"--track {track}: no such track, choose core or full")
    check_specs()
    show_next(find_kit(), assignment, submission, track)


@app.command()
def doctor(
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="Only that: silent when it starts, else one line and exit 1.")
    ] = False,
) -> None:
    """Check this machine: Python, libraries, the sandbox and its remedy, the interpreter, a GPU."""
    from grader.commands import doctor as checks

    if sandbox:
        finding = checks.sandbox()
        if not finding.well:
            print(f"no sandbox here: {finding.text}", file=sys.stderr)
        raise typer.Exit(0 if finding.well else 1)
    raise typer.Exit(checks.run(Console(highlight=False, soft_wrap=True)))


@app.command()
def release(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new or empty folder for the students' bundle.")
    ],
    solutions: SolutionsOption = None,
) -> None:
    """Write the students' bundle: stubs, handouts, visible tests, stored hints; nothing of solutions/."""
    from grader.commands.release import run

    kit = instructors_kit(solutions)
    raise typer.Exit(run(kit, directory))


@app.command()
def roofline(
    card: Annotated[
        str, typer.Option("--gpu", metavar="GPU", help="A card of specs/gpus.yaml.")
    ] = "h100-sxm",
    architecture: Annotated[
        str, typer.Option("--model", metavar="MODEL", help="A dense model of specs/models.")
    ] = "llama2-7b",
    batch: Annotated[int, typer.Option("--batch", min=1, help="Sequences.")] = 1,
    sequence: Annotated[
        int, typer.Option("--sequence", min=1, help="Tokens of each; in decode those in its cache.")
    ] = 4096,
    phase: Annotated[
        str, typer.Option("--phase", help="forward, backward, training, prefill or decode.")
    ] = "training",
    dtype: Annotated[str, typer.Option("--dtype", help="Number format of everything.")] = "bf16",
    submission: Annotated[
        Path | None, typer.Option("--submission", metavar="DIR", help="Whose code [assignments/].")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="PATH", help="Picture, .png and .svg are added [roofline-MODEL-GPU-PHASE]."
        ),
    ] = None,
) -> None:
    """Draw a model's step on a card's roofline with your own functions, and print it as a table."""
    from grader.commands.roofline import run

    raise typer.Exit(run(find_kit(), card, architecture, batch, sequence, phase, dtype, submission, out))


@app.command()
def kernel(
    target: Annotated[
        str, typer.Argument(metavar="FILE:FUNCTION", help="Any function that launches Triton kernels.")
    ],
    shape: Annotated[
        list[str] | None,
        typer.Option(
            "--shape",
            metavar="[NAME=]SIZES[:DTYPE]",
            help="A tensor argument: q=2,256,64 or ids=100:int64; repeatable [guessed].",
        ),
    ] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option("--arg", metavar="NAME=VALUE", help="Another argument, causal=True; repeatable."),
    ] = None,
    writes: Annotated[
        list[str] | None,
        typer.Option(
            "--writes",
            metavar="NAME",
            help="A tensor argument that is there to be written to [out]; repeatable.",
        ),
    ] = None,
    dtype: Annotated[
        str | None, typer.Option("--dtype", metavar="DTYPE", help="fp32, fp16 or bf16 [bf16, else fp32].")
    ] = None,
    card: Annotated[
        str, typer.Option("--gpu", metavar="GPU", help="A card of specs/gpus.yaml.")
    ] = "h100-sxm",
    backward: Annotated[
        bool, typer.Option("--backward", help="Call backward() on the first result as well.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Everything as JSON: faults, errors, interpreted, compiled, by_shapes, by_meter.",
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Interpret in this process, so that breakpoint() works.")
    ] = False,
) -> None:
    """Report on a function's Triton kernels without a GPU: faults, traffic, compiled code, a bound on time.

    Exit code 0 when all is well, 1 with a fault, an error or a kernel that cannot run, 2 when there is no report.
    """
    from grader.commands.kernel import run

    raise typer.Exit(run(target, shape or [], arg or [], writes or [], dtype, card, backward, as_json, debug))


@app.command()
def trace(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Traces of torch.profiler, .json or .json.gz, or a folder of them."
        ),
    ],
    card: Annotated[
        str, typer.Option("--gpu", metavar="GPU", help="The card of the run, for its MFU.")
    ] = "h100-sxm",
    architecture: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="What the run trains: print its MFU.")
    ] = None,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Sequences of a step on one GPU.")] = 1,
    sequence: Annotated[int, typer.Option("--sequence", min=1, help="Tokens of each.")] = 4096,
    dtype: Annotated[str, typer.Option("--dtype", help="Number format of the matmuls.")] = "bf16",
    submission: Annotated[
        Path | None, typer.Option("--submission", metavar="DIR", help="Whose code [assignments/].")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="PATH", help="Picture, .png and .svg are added [trace-FILE]."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Everything as JSON; a picture only with --out.")
    ] = False,
) -> None:
    """Say where the time of a profiled run went, with your own functions: steps, remedy, kernels, a timeline."""
    from grader.commands.trace import run

    raise typer.Exit(
        run(find_kit(), files, card, architecture, batch, sequence, dtype, submission, out, as_json)
    )


for _more in (
    schedules.schedule,
    grades_out.export,
    grades_out.feedback,
    timing_commands.bench,
    timing_commands.calibrate,
    runners.plausible,
    runners.combine,
    runners.slurm,
    *courses.WORDS,
):
    app.command()(_more)


if __name__ == "__main__":
    main()
