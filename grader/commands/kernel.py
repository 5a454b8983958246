"""`grader kernel FILE:FUNCTION`: what any Triton function does and would cost on a GPU, seen without one."""

import contextlib
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from grader.kernel_report.child import interpret
from grader.kernel_report.loading import Unusable, launchers
from grader.kernel_report.needed import Needed, needed
from grader.kernel_report.processes import Children
from grader.kernel_report.show import failures, faults, show
from grader.kernel_report.signatures import DTYPES, CannotGuess, parse_argument, parse_shape
from grader.kernel_report.task import Answer, Task
from grader.kernels.compiled.targets import TARGETS
from grader.kernels.evidence import CompiledLaunch
from grader.kernels.faults import UnsupportedTriton
from grader.kernels.speed_of_light import SpeedOfLight, speed_of_light
from grader.printable import printable
from grader.refusal import BadInput
from specs.gpu import Gpu, gpu
from specs.schema import SpecError

NOT_WELL = 1
FORMAT = 1
"""Of the JSON; a number more when a key changes its meaning or goes."""


def run(
    target: str,
    shapes: Sequence[str],
    arguments: Sequence[str],
    writes: Sequence[str],
    dtype: str | None,
    card: str,
    backward: bool,
    as_json: bool,
    debug: bool,
) -> int:
    """Print the report; exit 1 where the function has a finding, an error, or does not compile.

    Raises:
        BadInput: the file, function, shape, dtype or GPU is none, or the inputs cannot be guessed.
    """
    task, chosen = _task(target, shapes, arguments, writes, dtype, backward), _gpu(card)
    task = task.model_copy(update={"target": f"sm_{(chosen.compute_capability or '').replace('.', '')}"})
    _require_triton()
    with Children(here=debug) as children:
        if children.interpreted is None:
            ran = _here(task, quiet=as_json)
        else:
            ran = children.interpreted.ask(task)
        if not ran.called and not ran.evidence.findings:
            raise BadInput(printable(ran.problem or f"{target}: did not run", 1000))
        built, no_report = Answer(), ""
        if ran.called and task.target in TARGETS:
            built = children.compiled.ask(
                task.model_copy(update={"chosen": ran.chosen, "dtypes": (ran.dtype,)})
            )
        elif ran.called:
            no_report = (
                f"no compile report for {chosen.name} ({task.target}): there is one for {', '.join(TARGETS)}"
            )
    bound, floor, no_bound = _bounds(task, ran, built, chosen)
    left_out = [reason for reason in (no_report, no_bound) if reason]
    if as_json:
        print(_json(target, ran, built, bound, floor, chosen, left_out))
    else:
        show(
            Console(highlight=False),
            f"{task.file.name}:{task.function}",
            ran,
            built,
            bound,
            floor,
            chosen,
            left_out,
        )
    well = not faults(ran) and not failures(ran, built)
    return 0 if well and all(launch.compiles for launch in _first(built)) else NOT_WELL


def _first(built: Answer) -> list[CompiledLaunch]:
    return [launch for launch in built.compiled if launch.config_index == 0]


def _task(
    target: str,
    shapes: Sequence[str],
    arguments: Sequence[str],
    writes: Sequence[str],
    dtype: str | None,
    backward: bool,
) -> Task:
    file, _, function = target.rpartition(":")
    if not file or not function or Path(target).is_file():
        path = Path(target.removesuffix(":"))
        names = launchers(path) if path.is_file() else []
        example = f"{path.name}:{names[0]}" if names else "kernels.py:softmax"
        more = f"; {path.name} has {', '.join(names)}" if names else ""
        raise BadInput(f"{target}: give a file and a function, {example}{more}")
    path = Path(file)
    if not path.is_file():
        raise BadInput(f"{file}: no such file")
    if dtype is not None and dtype not in DTYPES:
        raise BadInput(f"--dtype {dtype}: choose one of {', '.join(DTYPES)}")
    try:
        parsed = tuple(parse_shape(text) for text in shapes)
        for text in arguments:
            parse_argument(text)
    except ValueError as error:
        raise BadInput(str(error)) from None
    return Task(
        file=path.resolve(),
        function=function,
        shapes=parsed,
        arguments=tuple(arguments),
        writes=tuple(writes),
        dtypes=(dtype,) if dtype else ("bf16", "fp32"),
        backward=backward,
    )


def _gpu(card: str) -> Gpu:
    try:
        chosen = gpu(card)
    except SpecError as error:
        raise BadInput(f"--gpu: {error}") from None
    if chosen.compute_capability is None:
        raise BadInput(f"--gpu {card}: the report is for NVIDIA cards only")
    return chosen


def _require_triton() -> None:
    missing = [library for library in ("torch", "triton") if not _is_installed(library)]
    if missing:
        linux = sys.platform.startswith("linux")
        remedy = "pip install -e '.[kernels]'" if linux else "use Linux, a container or Colab"
        raise BadInput(f"needs Linux with torch and triton: no {' and no '.join(missing)} here; {remedy}")


def _is_installed(library: str) -> bool:
    try:
        return importlib.util.find_spec(library) is not None
    except ImportError:  # an import hook may refuse a library by raising
        return False


def _here(task: Task, *, quiet: bool) -> Answer:
    """The interpreted run in this process, so that breakpoints work; triton must not be imported yet."""
    if "triton" in sys.modules:
        raise BadInput("--debug: triton was imported before the interpreter could be switched on")
    os.environ["TRITON_INTERPRET"] = "1"
    try:
        with contextlib.redirect_stdout(sys.stderr) if quiet else contextlib.nullcontext():
            return interpret(task)
    except (CannotGuess, Unusable, UnsupportedTriton) as error:
        raise BadInput(printable(str(error), 1000)) from None
    finally:
        del os.environ["TRITON_INTERPRET"]


def _bounds(
    task: Task, ran: Answer, built: Answer, chosen: Gpu
) -> tuple[SpeedOfLight | None, Needed | None, str]:
    """By meter, and by shapes alone; and why one is missing."""
    bound, floor, reason = None, None, ""
    try:
        if ran.evidence.launches and not ran.problem:
            bound = speed_of_light(ran.evidence, chosen, built.compiled)
        floor = needed(ran, task.function, chosen, task.backward)
    except SpecError as error:
        reason = f"no bound on time: {error}"
    return bound, floor, reason


def _json(
    target: str,
    ran: Answer,
    built: Answer,
    bound: SpeedOfLight | None,
    floor: Needed | None,
    chosen: Gpu,
    left_out: list[str],
) -> str:
    report: dict[str, Any] = {
        "format": FORMAT,
        "function": target,
        "gpu": chosen.name,
        "faults": [finding.model_dump(mode="json") for finding in faults(ran)],
        "errors": failures(ran, built),
        "left_out": left_out,
        "interpreted": ran.model_dump(mode="json", exclude={"compiled"}),
        "compiled": built.model_dump(
            mode="json",
            include={
                "problem": True,
                "seconds": True,
                "compiled": {"__all__": set(CompiledLaunch.model_fields) - {"ptx"}},
            },
        ),
        "by_shapes": floor and floor.model_dump(mode="json"),
        "by_meter": bound
        and {
            **bound.model_dump(mode="json"),
            "time_s": bound.time_s,
            "launches": [
                {**each.model_dump(mode="json"), "time_s": each.time_s, "limited_by": each.limited_by}
                for each in bound.launches
            ],
        },
    }
    return json.dumps(report, indent=2)
