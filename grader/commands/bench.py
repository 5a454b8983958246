"""`grader bench`: a student's kernels against a baseline on the card of this machine, and where the time goes.

The same blocks, inputs, checks and interval as in an official run, in one process. It gives no points. Not run on a
GPU yet: the tests have it time small shapes on the CPU.
"""

import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from grader.calls.faults import Fault, Todo
from grader.calls.runner import LocalRunner, Request, require
from grader.clock.device import DeviceError
from grader.clock.floor import bounds_s, compulsory_bytes
from grader.clock.grading import Plan, grade
from grader.clock.host import Host
from grader.clock.nvml import NoNvml, find_card, load
from grader.clock.nvml_host import NvmlHost, neighbours_unseen
from grader.clock.verdict import ShapeTiming, TimingOutcome, TimingVerdict
from grader.kit import Kit, find_exercise
from grader.printable import printable, printable_path
from grader.refusal import BadInput
from specs.assignment import Assignment, Exercise
from specs.gpu import Gpu
from specs.timing import Threshold, TimedShape, Timing

if TYPE_CHECKING:
    from grader.clock.workloads import Trusted
    from grader.plots.roofline import PlacedOp

DEFAULT_EXERCISE = "flash_attention.performance"
NOT_DONE = 1
NO_CARD = "no GPU here: nothing can be timed; grader kernel FILE:FUNCTION says without one what a kernel could reach"
WHEN_TO_STOP = Threshold(
    full_ratio=1.0,
    zero_ratio=8.0,
    provenance="no row for this card: says how sure is sure enough, and no points",
)
"""A twentieth of this curve is a ratio known to a tenth."""


@dataclass(frozen=True)
class Bench:
    """What is timed."""

    spec: Assignment
    exercise: Exercise
    timing: Timing
    root: Path
    """Of the submission."""


def run(kit: Kit, submission: Path | None, exercise: str | None, out: Path | None) -> int:
    """Time a submission here; exit code 0 with a result, 1 where its functions fail or nothing could be said.

    Raises:
        BadInput: there is no GPU, it cannot be timed on, or the exercise is not a timed one.
    """
    bench = _bench(kit, submission, exercise)
    try:
        card = find_card()
        if card is None:
            raise BadInput(NO_CARD + _missing_library())
        require(bench.exercise)
        unseen = neighbours_unseen()
        if unseen:  # who times their own code here has nothing to gain from a neighbour
            print(f"if somebody else is on the GPU, it does not show: {unseen}")
        host = NvmlHost(card, alone=True)
        with host.exclusive(say=print):
            return time_here(bench, host, out)
    except DeviceError as error:
        raise BadInput(str(error)) from None
    except Fault as fault:  # torch or triton is not there
        raise BadInput(fault.message) from None


def _missing_library() -> str:
    try:
        load()
    except NoNvml as error:
        return f" ({error})"
    return ""


def _bench(kit: Kit, submission: Path | None, name: str | None) -> Bench:
    spec, exercise = find_exercise(name or DEFAULT_EXERCISE)
    if exercise.timing is None:
        raise BadInput(f"{spec.name}.{exercise.id}: is not timed; choose {DEFAULT_EXERCISE}")
    root = (submission or kit.assignments).resolve()
    if not root.is_dir():
        raise BadInput(f"{printable_path(submission or kit.assignments)}: no such folder")
    return Bench(spec, exercise, exercise.timing, root)


def time_here(
    bench: Bench,
    host: Host,
    out: Path | None,
    *,
    plan: Plan | None = None,
    order: random.Random | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> int:
    """Time on `host` and show; what `run` does once it has a card."""
    from grader.clock.in_process import InProcess, baseline, of_submission  # with torch, which takes seconds
    from grader.clock.workloads import AttentionWorkload, draw_pools

    runner = LocalRunner(bench.root)
    order = order or random.SystemRandom()
    try:
        submission = of_submission(runner, _requests(bench))
        against, trusted = baseline(bench.timing.baseline)
        pools = draw_pools(bench.timing.shapes, host.device)
        judged = _trusted(against == bench.timing.baseline and host.device != "cpu")
        workloads = {each.label: AttentionWorkload(each, pools, judged) for each in bench.timing.shapes}
        device = InProcess(host, workloads, trusted, submission, order, clock)
        curve = bench.timing.curve(host.gpu.name, accept_unmeasured=True)
        verdict = grade(device, host.gpu, bench.timing.shapes, curve or WHEN_TO_STOP, plan=plan, order=order)
    except Todo:
        print(f"{bench.spec.name}.{bench.exercise.id}: still to be written")
        return NOT_DONE
    except Fault as fault:
        print(printable(fault.message, 1000))
        return NOT_DONE
    finally:
        runner.close()
    _show(bench, host.gpu, verdict, against, curve)
    _draw(bench, host.gpu, verdict, out)
    return 0 if verdict.outcome is TimingOutcome.SCORED else NOT_DONE


def _requests(bench: Bench) -> dict[str, Request]:
    from grader.clock.in_process import FUNCTIONS

    found: dict[str, Request] = {}
    for direction in dict.fromkeys(each.direction for each in bench.timing.shapes):
        function = FUNCTIONS[direction]
        file = bench.spec.file_of(function)
        if file is None:
            raise AssertionError(f"no exercise asks for {function}")
        found[direction] = Request(bench.spec.name, file, function)
    return found


def _trusted(kernels: bool) -> "Trusted":
    """What the answers are compared with: the kit's kernels, or PyTorch where a bundle has none."""
    from grader.clock.workloads import in_pytorch, in_triton

    return in_triton() if kernels else _one_batch_at_a_time(in_pytorch())


def _one_batch_at_a_time(whole: "Trusted") -> "Trusted":
    """The same answers in a fraction of the memory: the score matrices of all batches do not fit on a small card."""
    import torch

    from grader.clock.workloads import Trusted

    def apart(function: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
        def joined(*arguments: Any) -> tuple[Any, ...]:
            *tensors, causal = arguments
            parts = [function(*each, causal) for each in zip(*(x.split(1) for x in tensors), strict=True)]
            return tuple(torch.cat(each) for each in zip(*parts, strict=True))

        return joined

    return Trusted(apart(whole.forward), apart(whole.backward))


def _show(bench: Bench, card: Gpu, verdict: TimingVerdict, against: str, curve: Threshold | None) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    table = Table(box=None, pad_edge=False)
    for head in ("shape", "yours", against, "ratio", "between", "bound by", "of light"):
        table.add_column(head, justify="left" if head in ("shape", "bound by") else "right")
    for shape, timing in zip(bench.timing.shapes, verdict.shapes, strict=True):
        unit, light_s = bound(shape, card)
        took_s = timing.submission_s
        table.add_row(
            timing.shape,
            _seconds(took_s),
            _seconds(timing.baseline_s),
            f"{timing.ratio:.3f}" if timing.ratio else "-",
            _between(timing),
            f"{unit}, {_seconds(light_s)}",
            f"{light_s / took_s:.0%}" if took_s and took_s > 0 else "-",
        )
    console.print(f"{bench.spec.name}.{bench.exercise.id} on {card.name}, against {against}", markup=False)
    console.print(table)
    console.print(verdict.reason, markup=False)
    console.print(_what_it_means(bench, card, verdict, against, curve), markup=False)


def _what_it_means(
    bench: Bench, card: Gpu, verdict: TimingVerdict, against: str, curve: Threshold | None
) -> str:
    """What an official run would say to such a ratio, as far as anybody knows."""
    if against != bench.timing.baseline:
        return "An official run compares with the course's own kernel, which no student's bundle has: no points here."
    if curve is None:
        return (
            f"There is no row of thresholds for {card.name}: an official run there leaves the points pending."
        )
    share = f"{verdict.interval.low:.2f} to {verdict.interval.high:.2f} of the points"
    if bench.timing.status(card.name) == "unmeasured":
        return (
            f"By the row for {card.name}, which nobody measured yet, {share}; officially they stay pending."
        )
    return f"By the row for {card.name}: {share}. An official run decides, on fresh inputs and in a sandbox."


def bound(shape: TimedShape, card: Gpu) -> tuple[str, float]:
    """The unit that takes longest at its peak, and how long, seconds."""
    times = bounds_s(shape, card)
    unit = max(times, key=times.__getitem__)
    return unit, times[unit]


def placed(shapes: Sequence[TimedShape], verdict: TimingVerdict) -> list["PlacedOp"]:
    """The kernels as the picture needs them; a shape without a time is left out."""
    from grader.plots.roofline import PlacedOp

    timed = [(shape, each.submission_s) for shape, each in zip(shapes, verdict.shapes, strict=True)]
    total_s = sum(took_s for _, took_s in timed if took_s and took_s > 0)
    return [
        PlacedOp(
            shape.label,
            "attention",
            shape.flops / compulsory_bytes(shape),
            shape.flops / took_s,
            took_s / total_s,
        )
        for shape, took_s in timed
        if took_s and took_s > 0
    ]


def _draw(bench: Bench, card: Gpu, verdict: TimingVerdict, out: Path | None) -> None:
    try:
        from grader.plots.roofline import draw, save
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        print("no picture: matplotlib is not installed, pip install -e '.[plots]' and run this again")
        return
    ops = placed(bench.timing.shapes, verdict)
    if not ops:
        return
    dtype = bench.timing.shapes[0].dtype
    title = f"{bench.spec.name}.{bench.exercise.id} on {card.name}, {dtype}"
    note = "your kernels at the bytes that they must move; a dot's area is its share of the time"
    ridge = card.peak_flops(dtype) / card.hbm_bytes_per_s
    stem = out or Path(f"bench-{bench.exercise.id}-{card.name}")
    try:
        paths = save(draw(ops, card, dtype, ridge, title, note), stem)
    except OSError as error:
        raise BadInput(f"{printable_path(stem)}: the picture cannot be written ({error.strerror})") from None
    print(f"wrote {' and '.join(printable_path(path) for path in paths)}")


def _between(timing: ShapeTiming) -> str:
    low, high = timing.interval.low, timing.interval.high
    return f"{low:.3f} to {high:.3f}" if low > 0 and math.isfinite(high) else "not known"


def _seconds(number: float | None) -> str:
    """`459 µs`; `-` where there is none."""
    if number is None or number <= 0:
        return "-"
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if number >= size * 0.9995:
            return f"{number / size:.3g} {unit}"
    return f"{number / 1e-9:.3g} ns"
