"""`grader roofline`: a model's step on a card's roofline by the student's functions, as table and picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.calls.faults import Fault, Todo
from grader.calls.runner import LocalRunner, Request
from grader.kit import Kit, no_work_in
from grader.printable import printable, printable_path
from grader.refusal import BadInput
from specs.assignment import Assignment, assignment
from specs.costs import Cost, OpCost, StepTime, element_flops
from specs.dtypes import DTYPE_BYTES, DType
from specs.gpu import Gpu, gpu
from specs.model import Model, model

if TYPE_CHECKING:
    from grader.plots.roofline import PlacedOp

ASSIGNMENT = "roofline"
PHASES: dict[str, tuple[str, ...]] = {
    "forward": ("forward",),
    "backward": ("backward",),
    "training": ("forward", "backward"),
    "prefill": ("prefill",),
    "decode": ("decode",),
}
MOST_OPS = 100
TOO_LARGE = 1e30  # FLOPs, bytes or seconds; an int beyond the range of float would stop the arithmetic
NOT_DONE = 1


@dataclass(frozen=True)
class Step:
    """What was asked for."""

    card: Gpu
    model: Model
    batch: int
    sequence: int
    phase: str
    dtype: DType

    @property
    def title(self) -> str:
        """`llama2-7b on h100-sxm: decode, batch 1, sequence 4096, bf16`"""
        shape = f"batch {self.batch}, sequence {self.sequence}"
        return f"{self.model.name} on {self.card.name}: {self.phase}, {shape}, {self.dtype}"

    @property
    def file_name(self) -> str:
        """`roofline-llama2-7b-h100-sxm-decode`"""
        return f"roofline-{self.model.name}-{self.card.name}-{self.phase}"


@dataclass(frozen=True)
class Row:
    """An op with what the student's functions say about it, all its runs together but for the intensity."""

    op: OpCost
    name: str
    intensity: float
    bound: str
    time_s: float

    @property
    def flops(self) -> float:
        """Of all runs."""
        return self.op.count * self.op.cost.flops

    @property
    def bytes_moved(self) -> float:
        """Of all runs."""
        return self.op.count * self.op.cost.bytes_moved


def run(
    kit: Kit,
    card: str,
    architecture: str,
    batch: int,
    sequence: int,
    phase: str,
    dtype: str,
    submission: Path | None,
    out: Path | None,
) -> int:
    """Print the table and write the picture; exit code 1 when a function is still to be written.

    Raises:
        BadInput: an argument is wrong, a function raised or returned what cannot be shown, or `out` was asked
            for and cannot be written.
        SpecError: there is no such card, model, or rate.
    """
    if phase not in PHASES:
        raise BadInput(f"--phase {printable(phase)}: no such phase, choose one of {', '.join(PHASES)}")
    if dtype not in DTYPE_BYTES:
        raise BadInput(f"--dtype {printable(dtype)}: no such format, choose one of {', '.join(DTYPE_BYTES)}")
    step = Step(gpu(card), model(architecture), batch, sequence, phase, dtype)
    step.card.peak_flops(step.dtype)
    root = (submission or kit.assignments).resolve()
    nothing = no_work_in(root, {ASSIGNMENT: assignment(ASSIGNMENT).files})
    if nothing:
        raise BadInput(f"--submission {printable_path(submission or kit.assignments)}: {nothing}")
    stem = _stem(out, step)

    student = _Student(root)
    todo = student.todo(step)
    if todo:
        for line in todo:
            print(line)
        return NOT_DONE
    rows = student.rows(step)
    ridge = student.number("ridge_point", step.card, step.dtype)
    console = Console(highlight=False, soft_wrap=True)
    _print_table(console, step, rows, ridge)
    for line in student.summary(step, rows):
        console.print(line, markup=False)
    _draw(step, rows, ridge, stem, asked=out is not None)
    return 0


class _Student:
    """The student's functions of the roofline assignment, called in this process."""

    def __init__(self, root: Path) -> None:
        self._runner = LocalRunner(root)
        self._spec: Assignment = assignment(ASSIGNMENT)

    def call(self, function: str, *args: Any) -> Any:
        """What the function returns.

        Raises:
            Todo: it is still a stub, or its file is not there.
            BadInput: it raised; the message says where.
        """
        file = self._spec.file_of(function)
        if file is None:
            raise AssertionError(f"no exercise asks for {function}")
        try:
            return self._runner.run(Request(ASSIGNMENT, file, function, args))
        except Todo:
            raise
        except Fault as fault:
            raise BadInput(printable(fault.message, 400)) from fault

    def number(self, function: str, *args: Any) -> float:
        """What the function returns, where a number that is no NaN and not negative is needed."""
        got = self.call(function, *args)
        if isinstance(got, bool) or not isinstance(got, int | float) or not got >= 0:
            raise BadInput(
                f"{function} returned {printable(repr(got), 60)}: a number from 0 upwards is needed"
            )
        return float(got)

    def todo(self, step: Step) -> list[str]:
        """A line for each function that the picture needs and that is still to be written."""
        tiny = Cost(flops=1, bytes_read=1, bytes_written=1)
        first = PHASES[step.phase][0]
        needed: dict[str, tuple[Any, ...]] = {
            "layer_costs": (step.model, step.batch, step.sequence, first, step.dtype, element_flops()),
            "arithmetic_intensity": (tiny,),
            "ridge_point": (step.card, step.dtype),
            "time_s": (tiny, step.card, step.dtype),
            "bound": (tiny, step.card, step.dtype),
        }
        lines = []
        for function, args in needed.items():
            try:
                self.call(function, *args)
            except Todo:
                exercise = next(each for each in self._spec.exercises if function in each.functions)
                where = f"{ASSIGNMENT}/{exercise.file} (exercise {ASSIGNMENT}.{exercise.id})"
                lines.append(f"todo: write {function} in {where}, the picture needs it")
        return lines

    def rows(self, step: Step) -> list[Row]:
        """Every op of the step; in training the backward ones are called `qkv bwd`."""
        rows = []
        for phase in PHASES[step.phase]:
            args = (step.model, step.batch, step.sequence, phase, step.dtype, element_flops())
            ops = self.call("layer_costs", *args)
            if not isinstance(ops, list | tuple) or not all(isinstance(op, OpCost) for op in ops):
                raise BadInput("layer_costs returned something else than a list of OpCost")
            if not 0 < len(ops) <= MOST_OPS:
                raise BadInput(f"layer_costs returned {len(ops)} ops: 1 to {MOST_OPS} can be shown")
            for op in ops:
                name = printable(op.name, 40)
                name += " bwd" if phase == "backward" and step.phase == "training" else ""
                rows.append(self._row(step, op, name))
        return rows

    def _row(self, step: Step, op: OpCost, name: str) -> Row:
        for number in (op.cost.flops, op.cost.bytes_read, op.cost.bytes_written):
            # Each for itself first: a product of a huge integer and a float overflows.
            if not (op.count < TOO_LARGE and 0 <= number < TOO_LARGE and op.count * number < TOO_LARGE):
                raise BadInput(f"layer_costs: {name} costs {_shown(number)} each time, which cannot be shown")
        bound = self.call("bound", op.cost, step.card, step.dtype)
        if bound not in ("compute", "memory"):
            raise BadInput(f'bound returned {_shown(bound)}: "compute" or "memory" is needed')
        intensity = self.number("arithmetic_intensity", op.cost)
        once = self.number("time_s", op.cost, step.card, step.dtype)
        return Row(op, name, intensity, bound, op.count * once)

    def summary(self, step: Step, rows: Sequence[Row]) -> list[str]:
        """The step's time by kind and the MFU, as far as these functions are written."""
        ops = [row.op for row in rows]
        lines = []
        try:
            times = self.call("step_time", ops, step.card, step.dtype)
            if not isinstance(times, StepTime):
                raise BadInput("step_time returned something else than a StepTime")
            parts = ", ".join(
                f"{kind} {_seconds(getattr(times, kind))}" for kind in ("matmul", "attention", "memory")
            )
            lines.append(f"step {_seconds(times.total)}: {parts}")
        except Todo:
            lines.append("todo: step_time sums this up by kind")
        try:
            mfu = self.number("predicted_mfu", ops, step.card, step.dtype)
            lines.append(f"predicted MFU {mfu:.1%}".replace("%", " %"))
        except Todo:
            lines.append("todo: predicted_mfu says how much of the peak that is")
        return lines


def _shown(value: object) -> str:
    """A value in a message; a number of ten thousand digits is not written out."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**30:
        return "a number above 1e30" if value > 0 else "a number below -1e30"
    return printable(repr(value), 60)


def _stem(out: Path | None, step: Step) -> Path:
    """Where the picture goes, without `.png` or `.svg`."""
    stem = out or Path(step.file_name)
    if stem.suffix.lower() in (".png", ".svg"):
        stem = stem.with_suffix("")
    if stem.is_dir():
        stem = stem / step.file_name
    if not stem.parent.is_dir():
        raise BadInput(f"--out {printable_path(out)}: no folder {printable_path(stem.parent)}, make it first")
    return stem


def _print_table(console: Console, step: Step, rows: Sequence[Row], ridge: float) -> None:
    total = sum(row.time_s for row in rows)
    table = Table(show_edge=False, pad_edge=False, box=None, header_style="bold")
    table.add_column("op")
    for heading in ("runs", "FLOPs", "bytes", "FLOP/byte"):
        table.add_column(heading, justify="right")
    table.add_column("bound")
    for heading in ("time", "share"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            Text(row.name),
            str(row.op.count),
            _size(row.flops),
            _size(row.bytes_moved),
            f"{row.intensity:.3g}" if row.intensity < 1000 else f"{row.intensity:.0f}",
            Text(row.bound, style="green" if row.bound == "compute" else "yellow"),
            _seconds(row.time_s),
            f"{row.time_s / total:.1%}".replace("%", " %") if total else "-",
        )
    console.print(Text(f"{step.title}; the ridge is at {ridge:.3g} FLOP/byte", style="bold"))
    console.print(table)


def _draw(step: Step, rows: Sequence[Row], ridge: float, stem: Path, asked: bool) -> None:
    try:
        from grader.plots.roofline import draw, save
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        missing = "no picture: matplotlib is not installed, pip install -e '.[plots]' and run this again"
        if asked:
            raise BadInput(missing) from None
        print(missing)
        return
    ops = placed(rows)
    total = sum(row.time_s for row in rows)
    note = f"step {_seconds(total)} on the roofline; a dot's area is its share of that, ops at one place share a dot"
    left_out = [op.name for op in ops if not (0 < op.intensity < math.inf and 0 < op.flops_per_s < math.inf)]
    try:
        paths = save(draw(ops, step.card, step.dtype, ridge, step.title, note), stem)
    except OSError as error:
        raise BadInput(f"{printable_path(stem)}: the picture cannot be written ({error.strerror})") from None
    if left_out:
        print(f"not in the picture, no FLOPs or no bytes: {', '.join(left_out)}")
    print(f"wrote {' and '.join(printable_path(path) for path in paths)}")


def placed(rows: Sequence[Row]) -> list["PlacedOp"]:
    """The ops as the picture needs them."""
    from grader.plots.roofline import PlacedOp

    total = sum(row.time_s for row in rows)
    return [
        PlacedOp(
            row.name,
            row.op.kind,
            row.intensity,
            row.flops / row.time_s if row.time_s else math.inf,
            row.time_s / total if total else 0.0,
        )
        for row in rows
    ]


def _size(number: float) -> str:
    """`13.5 T`: three digits and a power of a thousand."""
    for size, letter in ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size * 0.9995:
            return f"{number / size:.3g} {letter}" if number < 1e21 else f"{number:.2e}"
    return f"{number:.3g}"


def _seconds(number: float) -> str:
    """`4.59 ms`"""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if number >= size * 0.9995:
            return f"{number / size:.3g} {unit}"
    return f"{number / 1e-9:.3g} ns"
