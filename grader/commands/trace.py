"""`grader trace`: where the time of a profiled run went, by the student's functions, as tables, remedy and timeline."""

import json
import re
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.calls.faults import Todo
from grader.kit import Kit, no_work_in
from grader.printable import printable, printable_path
from grader.refusal import BadInput
from grader.traces.kernels import KernelTime, by_time
from grader.traces.reader import Trace, files, read
from grader.traces.student import ASSIGNMENT, Student
from specs.assignment import assignment
from specs.dtypes import DTYPE_BYTES, DType
from specs.gpu import Gpu, gpu
from specs.model import Model, model
from specs.profiling import Remedy, StepBreakdown

MOST_FILES = 64
MOST_DRAWN_EVENTS = 500_000
"""Of all traces together that stay in memory once they are analysed: half a gigabyte."""
TOP_KERNELS = 10
NOT_DONE = 1
STRAGGLES = 1.05
"""A rank that works so much longer than the others' median is a straggler."""
_SHARES = {
    "matmul": "matmul_s",
    "attention": "attention_s",
    "memory": "memory_bound_s",
    "copy": "copy_s",
    "exposed": "exposed_communication_s",
    "data": "idle_data_s",
    "host": "idle_host_s",
    "hidden": "overlapped_communication_s",
}
_CPP_NOISE = re.compile(r"^void |\(anonymous namespace\)::|at::native::")
"""What half of all names begin with, and none needs to be told from another."""
_SAYS = {
    "fine": "matmuls and attention take {share} of the time: that is what the GPU is for",
    "fuse": "memory-bound work takes {share} of the time: fuse it, with torch.compile or fused kernels",
    "overlap": "exposed communication and copies take {share} of the time: overlap them with work",
    "loader": "waiting for data takes {share} of the time: more workers, prefetching, a cheaper transform",
    "launch_bound": "waiting for the host takes {share} of the time: CUDA graphs, a larger batch, fewer syncs",
}


@dataclass(frozen=True)
class ModelRun:
    """What the traced run trained, for its MFU."""

    model: Model
    card: Gpu
    dtype: DType
    batch: int
    sequence: int


@dataclass(frozen=True)
class Analysed:
    """A trace with what the student's functions say of it."""

    name: str
    trace: Trace
    steps: Sequence[tuple[StepBreakdown, Remedy]]
    kernels: Sequence[KernelTime]
    mfu: float | None
    todo: str = ""
    """Why there is no MFU although it was asked for."""

    def mean_s(self, field: str) -> float:
        """Of one field of the breakdowns, over the steps."""
        return statistics.fmean(float(getattr(each, field)) for each, _ in self.steps)

    @property
    def own_s(self) -> float:
        """What a step takes without exposed communication, in which a rank waits for the others."""
        return self.mean_s("duration_s") - self.mean_s("exposed_communication_s")


def run(
    kit: Kit,
    paths: Sequence[Path],
    card: str,
    architecture: str | None,
    batch: int,
    sequence: int,
    dtype: str,
    submission: Path | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Print the tables and draw the timeline; exit code 1 when a function is still to be written.

    Raises:
        BadInput: an argument is wrong, a trace cannot be read, a function raised or returned what cannot be shown,
            or `out` was asked for and cannot be written.
        SpecError: there is no such card, model or rate.
    """
    if dtype not in DTYPE_BYTES:
        raise BadInput(f"--dtype {printable(dtype)}: no such format, choose one of {', '.join(DTYPE_BYTES)}")
    asked = None
    if architecture is not None:
        asked = ModelRun(model(architecture), gpu(card), dtype, batch, sequence)
        asked.card.peak_flops(asked.dtype)
    root = (submission or kit.assignments).resolve()
    nothing = no_work_in(root, {ASSIGNMENT: assignment(ASSIGNMENT).files})
    if nothing:
        raise BadInput(f"--submission {printable_path(submission or kit.assignments)}: {nothing}")
    found = files(paths)
    if len(found) > MOST_FILES:
        raise BadInput(f"{len(found)} traces: {MOST_FILES} at most are read at once, give some of the ranks")
    stem = _stem(out, found)
    student = Student(root)
    try:
        todo = student.todo()
        if todo:
            print(json.dumps({"todo": todo}) if as_json else "\n".join(todo))
            return NOT_DONE
        analysed = _named(_analyse_all(student, found, asked))
        if as_json:
            print(json.dumps(_as_json(analysed), indent=1))
        else:
            _show(Console(highlight=False, soft_wrap=True), analysed)
        if out is not None or not as_json:
            _draw(student, analysed, stem, asked=out is not None, quiet=as_json)
    finally:
        student.close()
    return 0


def _analyse_all(student: Student, paths: Sequence[Path], asked: ModelRun | None) -> list[Analysed]:
    """One file after the other; of many large ones only the first stay in memory, to be drawn."""
    analysed: list[Analysed] = []
    kept = 0
    for path in paths:
        each = _analyse(student, read(path), asked)
        kept += len(each.trace.events)
        if analysed and kept > MOST_DRAWN_EVENTS:
            each = replace(each, trace=replace(each.trace, steps=()))
        analysed.append(each)
    return analysed


def _named(analysed: Sequence[Analysed]) -> list[Analysed]:
    """Each as `rank 3` where all know their rank, else by its file; in that order."""
    if not _are_ranks(analysed):
        return list(analysed)
    by_rank: dict[int, Analysed] = {}
    for each in analysed:
        rank = each.trace.rank or 0
        if rank in by_rank:
            both = f"{printable_path(by_rank[rank].trace.path)} and {printable_path(each.trace.path)}"
            raise BadInput(f"{both}: both are of rank {rank}, give one trace a rank")
        by_rank[rank] = replace(each, name=f"rank {rank}")
    return [each for _, each in sorted(by_rank.items())]


def _analyse(student: Student, trace: Trace, asked: ModelRun | None) -> Analysed:
    kernels = by_time(trace, student.classify)  # first: a wrong class is better said than what it leads to
    steps = []
    for step in trace.steps:
        breakdown = student.breakdown(step.events, step.number)
        steps.append((breakdown, student.remedy(breakdown)))
    mfu, todo = None, ""
    if asked is not None:
        try:
            mfu = student.mfu(trace.events, asked.model, asked.batch, asked.sequence, asked.card, asked.dtype)
        except Todo:
            todo = "todo: the MFU needs achieved_mfu (profiling/efficiency.py), parameter_count (memory/parameters.py)"
    return Analysed(printable(trace.path.name, 60), trace, steps, kernels, mfu, todo)


def _straggler(analysed: Sequence[Analysed]) -> str:
    """What the ranks say together: which is the slowest, and whether the others wait for it."""
    slowest = max(analysed, key=lambda each: each.own_s)
    others = statistics.median(each.own_s for each in analysed if each is not slowest)
    works = f"works {_seconds(slowest.own_s)} a step, the others {_seconds(others)}"
    if slowest.own_s > STRAGGLES * others:
        return f"straggler: {slowest.name} {works} (median), and they wait for it in exposed communication"
    return f"no straggler: {slowest.name}, the slowest, {works} (median), exposed communication not counted"


def _as_json(analysed: Sequence[Analysed]) -> dict[str, Any]:
    """Everything that is shown; times in seconds, as ASCII."""
    traces = [
        {
            "name": each.name,
            "file": printable_path(each.trace.path),
            "rank": each.trace.rank,
            "world_size": each.trace.world_size,
            "devices": [printable(name, 80) for name in each.trace.devices],
            "cpu_only": each.trace.cpu_only,
            "steps": [
                breakdown.model_dump() | {"remedy": remedy.model_dump()} for breakdown, remedy in each.steps
            ],
            "kernels": [asdict(kernel) for kernel in each.kernels],
            "mfu": each.mfu,
        }
        for each in analysed
    ]
    return {"traces": traces, "ranks": _straggler(analysed) if _are_ranks(analysed) else None}


def _are_ranks(analysed: Sequence[Analysed]) -> bool:
    return len(analysed) > 1 and all(each.trace.rank is not None for each in analysed)


def _show(console: Console, analysed: Sequence[Analysed]) -> None:
    for place, each in enumerate(analysed):
        if place:
            console.print()
        _show_trace(console, each)
    if _are_ranks(analysed):
        console.print()
        console.print(_rank_table(analysed))
        console.print(_straggler(analysed), markup=False)


def _show_trace(console: Console, each: Analysed) -> None:
    trace = each.trace
    about = [each.name, *(printable(name, 40) for name in trace.devices[:1])]
    if trace.rank is not None and trace.world_size:
        about.append(f"rank {trace.rank} of {trace.world_size}")
    about.append(f"{len(each.steps)} step{'s' * (len(each.steps) != 1)}")
    console.print(Text(", ".join(dict.fromkeys(about)), style="bold"))
    if trace.cpu_only:
        console.print("no work on a device in it: the CPU's operators are taken as the kernels", markup=False)
    if trace.device_count > 1:
        console.print(f"{trace.device_count} devices in one trace, their work taken together", markup=False)
    console.print(_step_table(each.steps))
    console.print("exposed, hidden: communication; data, host: what the idle device waits for", markup=False)
    for line in _remedies(each.steps):
        console.print(line, markup=False)
    if each.mfu is not None:
        above = (
            ", above the card's peak: are --gpu, --model, --batch, --sequence and --dtype those of the run?"
        )
        console.print(f"MFU {_percent(each.mfu)}{above * (each.mfu > 1)}", markup=False)
    elif each.todo:
        console.print(each.todo, markup=False)
    console.print()
    console.print(_kernel_table(each))


def _step_table(steps: Sequence[tuple[StepBreakdown, Remedy]]) -> Table:
    table = _table("step", ["time", *_SHARES])
    for breakdown, _ in steps:
        duration = float(breakdown.duration_s)
        shares = [float(getattr(breakdown, field)) for field in _SHARES.values()]
        table.add_row(
            str(breakdown.step),
            _seconds(duration),
            *(_percent(share / duration if duration else 0.0) for share in shares),
        )
    return table


def _remedies(steps: Sequence[tuple[StepBreakdown, Remedy]]) -> list[str]:
    """A line for each remedy with the steps that it is for, and one for each step whose parts cannot be."""
    lines = []
    for name in dict.fromkeys(remedy.name for _, remedy in steps):
        these = [(breakdown.step, float(remedy.share)) for breakdown, remedy in steps if remedy.name == name]
        low, high = (_percent(limit(share for _, share in these)) for limit in (min, max))
        share = low if low == high else f"{low} to {high}"
        which = "" if len(these) == len(steps) else f" in step{'s' * (len(these) > 1)} {_listed(these)}"
        lines.append(f"{name}{which}: {_SAYS[name].format(share=share)}")
    for breakdown, _ in steps:
        below = [word for word, name in _SHARES.items() if float(getattr(breakdown, name)) < 0]
        if below:
            lines.append(
                f"step {breakdown.step}: below 0: {', '.join(below)}; more was taken off than there is"
            )
        total, duration = float(breakdown.total_s), float(breakdown.duration_s)
        if abs(total - duration) > 1e-6:
            lines.append(
                f"step {breakdown.step}: its parts add up to {_seconds(total)}, and it takes {_seconds(duration)}"
            )
    return lines


def _listed(these: Sequence[tuple[int, float]]) -> str:
    numbers = [str(step) for step, _ in these]
    return ", ".join(numbers[:8]) + (f" and {len(numbers) - 8} more" if len(numbers) > 8 else "")


def _kernel_table(each: Analysed) -> Table:
    total = sum(kernel.total_s for kernel in each.kernels)
    table = _table("operator" if each.trace.cpu_only else "kernel", ["class", "runs", "time", "share"])
    for kernel in each.kernels[:TOP_KERNELS]:
        share = _percent(kernel.total_s / total if total else 0.0)
        table.add_row(
            Text(printable(_CPP_NOISE.sub("", kernel.name), 40)),
            kernel.kind,
            str(kernel.launches),
            _seconds(kernel.total_s),
            share,
        )
    rest = each.kernels[TOP_KERNELS:]
    if rest:
        runs, took = sum(kernel.launches for kernel in rest), sum(kernel.total_s for kernel in rest)
        table.add_row(
            f"{len(rest)} more", "", str(runs), _seconds(took), _percent(took / total if total else 0.0)
        )
    return table


def _rank_table(analysed: Sequence[Analysed]) -> Table:
    table = _table("mean of a step", ["time", "without exposed", "exposed", "waiting for data"])
    for each in analysed:
        fields = ("duration_s", "exposed_communication_s", "idle_data_s")
        time, exposed, data = (_seconds(each.mean_s(field)) for field in fields)
        table.add_row(each.name, time, _seconds(each.own_s), exposed, data)
    return table


def _table(first: str, others: Sequence[str]) -> Table:
    table = Table(show_edge=False, pad_edge=False, box=None, header_style="bold")
    table.add_column(first)
    for heading in others:
        table.add_column(heading, justify="left" if heading == "class" else "right")
    return table


def _stem(out: Path | None, found: Sequence[Path]) -> Path:
    """Where the picture goes, without `.png` or `.svg`."""
    name = found[0].name.split(".json")[0] if len(found) == 1 else found[0].resolve().parent.name
    file_name = f"trace-{''.join(c if c.isalnum() or c in '-_.' else '-' for c in name)[:80]}"
    stem = out or Path(file_name)
    if stem.suffix.lower() in (".png", ".svg"):
        stem = stem.with_suffix("")
    if stem.is_dir():
        stem = stem / file_name
    if not stem.parent.is_dir():
        raise BadInput(f"--out {printable_path(out)}: no folder {printable_path(stem.parent)}, make it first")
    return stem


def _draw(student: Student, analysed: Sequence[Analysed], stem: Path, asked: bool, quiet: bool) -> None:
    try:
        from grader.plots.timeline import draw, save
        from grader.traces.pictures import tracks
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        missing = "no picture: matplotlib is not installed, pip install -e '.[plots]' and run this again"
        if asked:
            raise BadInput(missing) from None
        print(missing)
        return
    one = len(analysed) == 1
    drawn, note = tracks(
        [("" if one else each.name, each.trace) for each in analysed], student.classify, student.busy
    )
    several = "ranks" if _are_ranks(analysed) else "traces"
    title = analysed[0].name if one else f"{len(analysed)} {several}"
    try:
        paths = save(draw(drawn, title, note), stem)
    except OSError as error:
        raise BadInput(f"{printable_path(stem)}: the picture cannot be written ({error.strerror})") from None
    if not quiet:
        print(f"wrote {' and '.join(printable_path(path) for path in paths)}")


def _percent(share: float) -> str:
    """`62.0 %`; what no step can be is shown as it is."""
    return f"{share:.1%}".replace("%", " %") if abs(share) < 100 else f"{share:.3g}"


def _seconds(number: float) -> str:
    """`4.59 ms`"""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(number) >= size * 0.9995:
            return f"{number / size:.3g} {unit}"
    return f"{number / 1e-9:.3g} ns"
