"""`grader kernel FILE:FUNCTION`: what any Triton function does and would cost on a GPU, seen without one."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from grader.kernel_report.child import Answer, Task, interpret
from grader.kernel_report.show import show
from grader.kernel_report.signatures import DTYPES, parse_argument, parse_shape
from grader.kernels.evidence import CompiledLaunch
from grader.kernels.speed_of_light import SpeedOfLight, speed_of_light
from grader.printable import printable
from grader.refusal import BadInput
from specs.gpu import Gpu, gpu
from specs.schema import SpecError

NOT_WELL = 1
_PATIENCE_S = 600.0


def run(
    target: str,
    shapes: Sequence[str],
    arguments: Sequence[str],
    dtype: str | None,
    card: str,
    backward: bool,
    as_json: bool,
    debug: bool,
) -> int:
    """Print the report; exit 1 where the function has a finding, an error, or does not compile.

    Raises:
        BadInput: the file, function, shape, dtype or GPU is none.
    """
    task, chosen = _task(target, shapes, arguments, dtype, backward), _gpu(card)
    task = task.model_copy(update={"target": f"sm_{(chosen.compute_capability or '').replace('.', '')}"})
    _require_triton()
    if debug:
        ran = _here(task)
    else:
        ran = _child(task, interpreted=True)
    if not ran.dtype:  # it never came to a call
        raise BadInput(printable(ran.problem or f"{target}: did not run", 600))
    built = _child(task.model_copy(update={"chosen": ran.chosen, "dtypes": (ran.dtype,)}), interpreted=False)
    bound = _bound(ran, built, chosen)
    if as_json:
        print(_json(target, ran, built, bound, chosen))
    else:
        show(Console(highlight=False, soft_wrap=True), _title(task), ran, built, bound, chosen)
    well = not ran.problem and not ran.evidence.findings and not built.problem
    return 0 if well and all(launch.compiles for launch in _first(built)) else NOT_WELL


def _first(built: Answer) -> list[CompiledLaunch]:
    return [launch for launch in built.compiled if launch.config_index == 0]


def _task(
    target: str, shapes: Sequence[str], arguments: Sequence[str], dtype: str | None, backward: bool
) -> Task:
    file, colon, function = target.rpartition(":")
    if not colon or not function or not file:
        raise BadInput(f"{target}: give a file and a function, kernels.py:softmax")
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
        dtypes=(dtype,) if dtype else ("bf16", "fp32"),
        backward=backward,
    )


def _gpu(card: str) -> Gpu:
    try:
        chosen = gpu(card)
    except SpecError as error:
        raise BadInput(f"--gpu: {error}") from None
    if chosen.compute_capability is None:
        raise BadInput(f"--gpu {card}: Triton's report is for NVIDIA cards only")
    return chosen


def _require_triton() -> None:
    for library in ("triton", "torch"):
        if importlib.util.find_spec(library) is None:
            linux = sys.platform.startswith("linux")
            remedy = "pip install -e '.[kernels]'" if linux else "use Linux, a container or Colab"
            raise BadInput(f"needs Linux with triton and torch: {library} is not installed here; {remedy}")


def _child(task: Task, interpreted: bool) -> Answer:
    with tempfile.TemporaryDirectory(prefix="rooflab-") as folder:
        result = Path(folder) / "answer.json"
        environment = dict(os.environ, TRITON_CACHE_DIR=str(Path(folder) / "cache"))
        environment.pop("TRITON_INTERPRET", None)
        if interpreted:
            environment["TRITON_INTERPRET"] = "1"
        command = [sys.executable, "-m", "grader.kernel_report.child", str(result)]
        try:
            done = subprocess.run(
                command,
                input=task.model_dump_json(),
                env=environment,
                stdout=sys.stderr,  # what the function prints is not part of the report
                text=True,
                timeout=_PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BadInput(
                f"{task.function} ran longer than {_PATIENCE_S:g} s: give smaller shapes with --shape"
            ) from None
        if done.returncode != 0 or not result.is_file():
            raise BadInput(f"the process that ran {task.function} ended with exit code {done.returncode}")
        return Answer.model_validate_json(result.read_text(encoding="utf-8"))


def _here(task: Task) -> Answer:
    """The interpreted run in this process, so that breakpoints work; triton must not be imported yet."""
    if "triton" in sys.modules:
        raise BadInput("--debug: triton was imported before the interpreter could be switched on")
    os.environ["TRITON_INTERPRET"] = "1"
    try:
        return interpret(task)
    finally:
        del os.environ["TRITON_INTERPRET"]


def _bound(ran: Answer, built: Answer, chosen: Gpu) -> SpeedOfLight | None:
    if not ran.evidence.launches:
        return None
    try:
        return speed_of_light(ran.evidence, chosen, built.compiled)
    except SpecError as error:
        print(f"no speed of light: {error}", file=sys.stderr)
        return None


def _title(task: Task) -> str:
    return f"{task.file.name}:{task.function}"


def _json(target: str, ran: Answer, built: Answer, bound: SpeedOfLight | None, chosen: Gpu) -> str:
    report = {
        "function": target,
        "gpu": chosen.name,
        "interpreted": ran.model_dump(mode="json", exclude={"compiled"}),
        "compiled": built.model_dump(
            mode="json",
            include={
                "problem": True,
                "seconds": True,
                "compiled": {"__all__": set(CompiledLaunch.model_fields) - {"ptx"}},
            },
        ),
        "speed_of_light": bound
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
