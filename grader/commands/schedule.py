"""`grader schedule`: a pipeline schedule simulated and drawn, the student's own or that of any function."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.calls.faults import Fault, Todo
from grader.calls.runner import LocalRunner, Request, missing_function
from grader.kit import Kit, no_work_in
from grader.printable import printable, printable_path
from grader.refusal import BadInput
from grader.schedules.simulator import BadSchedule, Schedule, simulate
from specs.assignment import assignment

ASSIGNMENT, FUNCTION = "sharding", "pipeline_schedule"
KINDS = {"gpipe": "GPipe", "1f1b": "1F1B"}
NOT_DONE = 1


def run(
    kit: Kit,
    target: str | None,
    kinds: Sequence[str],
    stages: int,
    microbatches: int,
    forward: float,
    backward: float,
    submission: Path | None,
    out: Path | None,
) -> int:
    """Print what each kind costs and draw them below each other.

    Returns:
        1 when the function is still to be written, or what it returned cannot run as a schedule; then nothing is
        drawn.

    Raises:
        BadInput: an argument is wrong, the function raised, or the picture was asked for and cannot be written.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise BadInput(f"--kind {printable(kind)}: no such kind, choose one of {', '.join(KINDS)}")
    if not 0 < forward < 1e9 or not 0 < backward < 1e9:
        raise BadInput("--forward and --backward: times above 0 are needed")
    root, request = _request(kit, target, submission)
    stem = _stem(out, stages, microbatches)
    runner = LocalRunner(root)
    simulated: dict[str, Schedule] = {}
    try:
        for kind in kinds or KINDS:
            entries = _call(runner, request, (kind, stages, microbatches, forward, backward))
            simulated[kind] = simulate(entries, stages, microbatches, forward, backward)
    except Todo:
        exercise = f"exercise {ASSIGNMENT}.{FUNCTION}"
        print(f"todo: write {request.function} in {request.assignment}/{request.file} ({exercise})")
        return NOT_DONE
    except BadSchedule as bad:
        print(f"{KINDS[kind]} cannot run: {printable(bad.text, 400)}")
        return NOT_DONE
    finally:
        runner.close()
    sizes = f"{_many(stages, 'stage')}, {_many(microbatches, 'microbatch')}"
    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(f"{sizes}, a forward {forward:g}, a backward {backward:g}", style="bold"))
    console.print(_table(simulated))
    _draw([(f"{KINDS[kind]}, {sizes}", each) for kind, each in simulated.items()], stem, out is not None)
    return 0


def _request(kit: Kit, target: str | None, submission: Path | None) -> tuple[Path, Request]:
    """Whose function is called: that of FILE:FUNCTION, or pipeline_schedule of a submission."""
    if target is None:
        spec = assignment(ASSIGNMENT)
        file = spec.file_of(FUNCTION)
        assert file is not None, f"no exercise asks for {FUNCTION}"
        root = (submission or kit.assignments).resolve()
        nothing = no_work_in(root, {ASSIGNMENT: spec.files})
        if nothing:
            raise BadInput(f"--submission {printable_path(submission or kit.assignments)}: {nothing}")
        return root, Request(ASSIGNMENT, file, FUNCTION)
    if submission is not None:
        raise BadInput("--submission: it goes without FILE:FUNCTION, which names the code already")
    name, _, function = target.rpartition(":")
    if not name or not function.isidentifier():
        raise BadInput(
            f"{printable(target)}: give a file and a function, {ASSIGNMENT}/bubbles.py:{FUNCTION} say"
        )
    path = Path(name).resolve()
    if not path.is_file():
        raise BadInput(f"{printable_path(name)}: no such file")
    return path.parent.parent, Request(path.parent.name, path.name, function)


def _call(runner: LocalRunner, request: Request, arguments: tuple[object, ...]) -> object:
    asked = Request(request.assignment, request.file, request.function, arguments)
    try:
        return runner.run(asked)
    except Todo:
        raise
    except Fault as fault:
        if fault.message == missing_function(asked):
            raise BadInput(f"{asked.file} has no function {asked.function}") from fault
        raise BadInput(printable(fault.message, 400)) from fault


def _many(count: int, name: str) -> str:
    plural = "es" if name.endswith("ch") else "s"
    return f"{count} {name}{plural if count != 1 else ''}"


def _table(simulated: Mapping[str, Schedule]) -> Table:
    table = Table(show_edge=False, pad_edge=False, box=None, header_style="bold")
    table.add_column("schedule")
    for heading in ("makespan", "bubble", "of total", "over ideal"):
        table.add_column(heading, justify="right")
    table.add_column("in flight by stage")
    for kind, schedule in simulated.items():
        peaks = schedule.peak_activations
        alike = len(peaks) > 1 and len(set(peaks)) == 1
        table.add_row(
            KINDS[kind],
            f"{schedule.makespan:g}",
            f"{schedule.bubble:g}",
            f"{schedule.of_total:.1%}".replace("%", " %"),
            f"{schedule.over_ideal:.1%}".replace("%", " %"),
            f"{peaks[0]} on each" if alike else printable(", ".join(map(str, peaks)), 40),
        )
    return table


def _stem(out: Path | None, stages: int, microbatches: int) -> Path:
    """Where the picture goes, without `.png` or `.svg`."""
    name = f"schedule-{stages}-stages-{microbatches}-microbatches"
    stem = out or Path(name)
    if stem.suffix.lower() in (".png", ".svg"):
        stem = stem.with_suffix("")
    if stem.is_dir():
        stem = stem / name
    if not stem.parent.is_dir():
        raise BadInput(f"--out {printable_path(out)}: no folder {printable_path(stem.parent)}, make it first")
    return stem


def _draw(charts: Sequence[tuple[str, Schedule]], stem: Path, asked: bool) -> None:
    try:
        from grader.schedules.gantt import draw, save
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        _no_picture("matplotlib is not installed, pip install -e '.[plots]' and run this again", asked)
        return
    try:
        paths = save(draw(charts), stem)
    except ValueError as error:  # too many passes for a picture
        _no_picture(str(error), asked)
        return
    except OSError as error:
        raise BadInput(f"{printable_path(stem)}: the picture cannot be written ({error.strerror})") from None
    print(f"wrote {' and '.join(printable_path(path) for path in paths)}")


def _no_picture(reason: str, asked: bool) -> None:
    if asked:
        raise BadInput(f"no picture: {reason}")
    print(f"no picture: {reason}")
