"""`grader calibrate`: measures this card for the thresholds of the specs, and writes the row with its provenance.

Not run on a GPU yet: the tests have simulated cards.
"""

import contextlib
import datetime
import getpass
import importlib.metadata
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from grader.calls.faults import Fault
from grader.clock.calibration import Open, Ratios, Who, measure
from grader.clock.device import Device, DeviceError
from grader.clock.host import Host
from grader.clock.nvml import Card, NoNvml, find_card, load
from grader.clock.nvml_host import NvmlHost
from grader.kit import Kit
from grader.printable import printable, printable_path
from grader.refusal import BadInput
from grader.report import write_atomically
from grader.sandbox import Level, available
from specs.assignment import Assignment, Exercise, assignments
from specs.schema import SpecError, validate
from specs.timing import Measured, Threshold, Timing

NAIVE = "kernels_ref.timed.naive"
NOT_BORNE_OUT = 1


def run(kit: Kit, out: Path | None, who: str | None, alone: bool) -> int:
    """Measure every timed exercise and write its row; exit code 1 where a row's own curve is not borne out.

    Args:
        who: stands in the row; the user's name where None.
        alone: whoever calls vouches that nobody else is on the card, where that cannot be seen.

    Raises:
        BadInput: there is no GPU, it cannot be timed on, or a kernel of the kit failed.
    """
    if out is not None and out.is_dir():
        raise BadInput(f"--out {printable_path(out)}: is a folder, name a file")
    try:
        card = find_card()
        if card is None:
            raise BadInput(f"no GPU here, nothing is measured: {_why()}")
        host = NvmlHost(card, alone=alone)
        with host.exclusive(say=_tell), tempfile.TemporaryDirectory(prefix="rooflab-") as scratch:
            trouble = host.sample([]).trouble
            if trouble:
                raise BadInput(f"{card.name}: nothing is measured, {trouble}; grader doctor says more")
            text, borne_out = rows(kit, card, host, who or _user(), Path(scratch))
    except DeviceError as error:
        raise BadInput(f"nothing was measured: {error}") from None
    except Fault as fault:
        raise BadInput(f"nothing was measured: {printable(fault.message, 300)}") from None
    if out is None:
        sys.stdout.write(text)
    else:
        write_atomically(out, text)
        print(f"wrote {printable_path(out)}")
    return 0 if borne_out else NOT_BORNE_OUT


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        raise BadInput("who measures has no user name here: say it with --who") from None


def _why() -> str:
    try:
        load()
    except NoNvml as error:
        return str(error)
    return "the driver shows none"


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def rows(kit: Kit, card: Card, host: Host, who: str, scratch: Path) -> tuple[str, bool]:
    """The YAML of all timed exercises, and whether each measurement bears its curve out."""
    from grader.clock.ceilings import bf16_tflops, copy_gb_per_s  # with torch, which takes seconds
    from kernels_ref.bench.clock import CudaClock

    _tell("ceilings: a copy, a matmul")
    clock = CudaClock()
    ceilings = (copy_gb_per_s(clock, host.device), bf16_tflops(clock, host.device))
    del clock  # its buffer makes room
    texts, all_well = [], True
    for name, spec in assignments().items():
        for exercise in spec.exercises:
            if exercise.timing is None:
                continue
            sides = _sides(kit, host, card, spec, exercise, scratch)
            found = measure(exercise.timing, sides, random.SystemRandom(), _tell)
            text, problem = row(f"{name}.{exercise.id}", exercise.timing, card, who, ceilings, found)
            texts.append(text)
            if problem:
                _tell(f"{name}.{exercise.id}: measured, and does not bear its row out: {problem}")
                all_well = False
    return "\n".join(texts), all_well


def row(
    exercise: str, timing: Timing, card: Card, who: str, ceilings: tuple[float, float], found: Ratios
) -> tuple[str, str]:
    """The row as YAML to paste under `thresholds`, and why it may not stay as it is; "" where it may.

    Args:
        ceilings: copy, 1e9 bytes a second; bf16 matmul, 1e12 operations a second.
    """
    name = card.gpu.name if card.gpu else card.name
    copy_gb_per_s, bf16_tflops = ceilings
    measured = Measured(
        who=who,
        measured_on=datetime.datetime.now(datetime.UTC).date(),
        gpu=name,
        card=card.name,
        driver=card.driver,
        torch=_version("torch"),
        triton=_version("triton"),
        sm_clock_mhz=found.sm_clock_mhz,
        copy_gb_per_s=copy_gb_per_s,
        bf16_tflops=bf16_tflops,
        empty_call_s=found.empty_call_s,
        spread=found.spread,
        spec_sha256=timing.sha256,
        shapes=found.shapes,
    )
    curve = _curve(timing, name)
    data = {**curve.model_dump(mode="json"), "measured": measured.model_dump(mode="json")}
    problem = ""
    try:
        validate(Timing, {**timing.model_dump(mode="json"), "thresholds": {name: data}}, name)
    except SpecError as error:
        problem = str(error)
    written = yaml.safe_dump({name: data}, sort_keys=False, allow_unicode=True, width=110)
    return f"# {exercise}: replaces the card's row under timing.thresholds in its spec\n{written}", problem


def _curve(timing: Timing, name: str) -> Threshold:
    """The curve that the row has already; that of the first row for a card without one."""
    found = timing.thresholds.get(name)
    if found is not None:
        return found
    if not timing.thresholds:
        raise BadInput("no GPU has a row of thresholds: write one with full_ratio and zero_ratio first")
    other, first = next(iter(timing.thresholds.items()))
    return first.model_copy(update={"provenance": f"as for {other}: {first.provenance}", "measured": None})


def _version(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _sides(
    kit: Kit, host: Host, card: Card | None, spec: Assignment, exercise: Exercise, scratch: Path
) -> Open:
    """Opens both processes of a run: the kit's own code only, confined as a submission is where that is possible."""
    from grader.calls.official import stage_baseline, stage_kit
    from grader.calls.runner import Request
    from grader.clock.in_process import FUNCTIONS
    from grader.clock.opening import shown_only
    from grader.clock.timer import Run, Sides

    level: Level = "sandbox" if available().ok else "process"
    timing = exercise.timing
    if timing is None:
        raise AssertionError(f"{exercise.id} is not timed")
    modules: dict[Who, str] = {"baseline": timing.baseline, "naive": NAIVE}

    @contextlib.contextmanager
    def opened(who: Who, direction: str) -> Iterator[Device]:
        function = FUNCTIONS[direction]
        file = spec.file_of(function)
        if file is None:
            raise AssertionError(f"no exercise asks for {function}")
        request = Request(spec.name, file, function)
        folder = Path(tempfile.mkdtemp(dir=scratch))
        view, root = stage_kit(kit, folder), kit.solutions
        if who in modules:
            view, root = stage_baseline(view, folder / who, modules[who], request)
        shapes = [each for each in timing.shapes if each.direction == direction]
        sides = Sides(view, root, folder, level)
        if card is not None:
            sides = shown_only(sides, card)
        with Run(host, sides, timing.baseline, request, shapes, random.SystemRandom()) as both:
            yield both.device(own_kernels=False)

    return opened
