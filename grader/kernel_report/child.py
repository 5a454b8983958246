"""One run of a user's function in a process of its own: interpreted and metered, or compiled only.

Started as `python -m grader.kernel_report.child RESULT` with the task as JSON on standard input. It writes its
answer as JSON to the file RESULT, since the function may print. The code is the user's own: nothing is confined.
"""

import importlib.util
import inspect
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ConfigDict

from grader.kernel_report.signatures import DTYPES, CannotGuess, Inputs, Shape, candidates, parse_argument
from grader.kernels.evidence import CallEvidence, CompiledLaunch
from grader.kernels.faults import KernelFault, UnsupportedTriton

_SEED = 0


class Task(BaseModel):
    """What the command asks of a child."""

    model_config = ConfigDict(frozen=True)

    file: Path
    function: str
    shapes: tuple[tuple[str, Shape], ...] = ()
    arguments: tuple[str, ...] = ()
    """As typed, `causal=True`."""
    dtypes: tuple[str, ...] = ("bf16", "fp32")
    """To try in order, until the function accepts one."""
    backward: bool = False
    target: str = "sm_90"
    chosen: int | None = None
    """Number of the candidate to run; None: the first that works."""


class Answer(BaseModel):
    """What a child says."""

    model_config = ConfigDict(frozen=True)

    problem: str = ""
    """One line; "" when the function ran, or compiled, to its end."""
    chosen: int = 0
    dtype: str = ""
    shapes: dict[str, Shape] = {}
    others: dict[str, Any] = {}
    assumed: str = ""
    refused: tuple[str, ...] = ()
    """What was tried before, and why it did not work."""
    evidence: CallEvidence = CallEvidence()
    compiled: tuple[CompiledLaunch, ...] = ()
    triton: str = ""
    seconds: float = 0.0


def main() -> None:
    """Answer the task of standard input into the file of the first argument."""
    task = Task.model_validate_json(sys.stdin.read())
    sys.stdin = open(os.devnull)  # noqa: SIM115 - the function must not wait for input
    try:
        answer = interpret(task) if os.environ.get("TRITON_INTERPRET") == "1" else compile_only(task)
    except (CannotGuess, Unusable, UnsupportedTriton) as error:
        answer = Answer(problem=str(error))
    Path(sys.argv[1]).write_text(answer.model_dump_json(), encoding="utf-8")


def interpret(task: Task) -> Answer:
    """Run the function under the faithful interpreter, metered and sanitized.

    A candidate that the function's host code refuses makes way for the next; so does a dtype that it cannot take.
    """
    from grader.kernels import interpreter, recorder

    interpreter.install()  # before the file is imported: its decorators look for the interpreter
    function = _load(task)
    tries = _candidates(task, function)
    refused: list[str] = []
    for dtype in task.dtypes:
        for number, inputs in enumerate(tries):
            if task.chosen not in (None, number):
                continue
            call, args = _call(function, inputs, dtype, task.backward)
            began = time.perf_counter()
            recorded = recorder.call_recorded(call, args, {})
            answer = Answer(
                problem=_describe(recorded.error, task.file),
                chosen=number,
                dtype=dtype,
                shapes=dict(inputs.shapes),
                others=dict(inputs.others),
                assumed=inputs.assumed,
                refused=tuple(refused),
                evidence=recorded.evidence,
                triton=_triton_version(),
                seconds=time.perf_counter() - began,
            )
            if recorded.error is None or not _try_another(recorded.error, len(task.dtypes), len(tries)):
                return answer
            refused.append(f"{dtype}, {_shapes(inputs)}: {answer.problem}")
    return answer.model_copy(update={"refused": tuple(refused[:-1])})


def compile_only(task: Task) -> Answer:
    """Compile every launch of the function for the target; none runs."""
    from grader.kernels import compiled

    function = _load(task)
    inputs = _candidates(task, function)[task.chosen or 0]
    call, args = _call(function, inputs, task.dtypes[0], task.backward)
    began = time.perf_counter()
    result = compiled.compile_call(call, args, {}, target=task.target, cache=None)
    return Answer(
        problem=_describe(result.error, task.file),
        chosen=task.chosen or 0,
        dtype=task.dtypes[0],
        compiled=result.launches,
        triton=_triton_version(),
        seconds=time.perf_counter() - began,
    )


class Unusable(ValueError):
    """The file or the function is of no use; one line."""


def _load(task: Task) -> Callable[..., Any]:
    sys.path.insert(0, str(task.file.parent))  # as `python FILE` would
    try:
        module = _module(task.file)
    except Exception as error:  # importing runs the user's code, which may raise anything
        raise Unusable(f"{task.file.name} cannot be imported: {_describe(error, task.file)}") from None
    function: Any = module
    for part in task.function.split("."):
        function = getattr(function, part, None)
    if not callable(function) or function is module:
        names = [name for name, value in vars(module).items() if _is_own_function(value, module)]
        raise Unusable(
            f"{task.file.name} has no function {task.function}"
            + (f": it has {', '.join(sorted(names))}" if names else "")
        )
    found: Callable[..., Any] = function
    return found


def _module(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"_kernels_of_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise Unusable(f"{file}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _is_own_function(value: Any, module: ModuleType) -> bool:
    is_function = inspect.isfunction(value) or (inspect.isclass(value) and hasattr(value, "apply"))
    return is_function and value.__module__ == module.__name__ and not value.__name__.startswith("_")


def _candidates(task: Task, function: Callable[..., Any]) -> list[Inputs]:
    arguments = dict(parse_argument(text) for text in task.arguments)
    return candidates(_readable(function), task.shapes, arguments)


def _readable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Something whose signature is that of the call: an autograd Function's forward without its ctx."""
    import torch

    if not (inspect.isclass(function) and issubclass(function, torch.autograd.Function)):
        if hasattr(function, "run") and hasattr(function, "fn"):
            raise CannotGuess("that is a Triton kernel itself: name the Python function that launches it")
        return function
    forward = function.forward
    parameters = list(inspect.signature(forward).parameters.values())
    if function.setup_context is torch.autograd.function._SingleLevelFunction.setup_context:
        parameters = parameters[1:]  # the older form: forward(ctx, ...)

    def apply(*args: Any) -> Any:
        return function.apply(*args)  # type: ignore[no-untyped-call]

    apply.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    apply.__name__ = f"{function.__name__}.apply"
    return apply


def _call(
    function: Callable[..., Any], inputs: Inputs, dtype: str, backward: bool
) -> tuple[Callable[..., Any], list[Any]]:
    """The callable and its arguments by position, tensors N(0, 1), the same in both processes."""
    import torch

    generator = torch.Generator().manual_seed(_SEED)
    values: dict[str, Any] = dict(inputs.others)
    for name, shape in inputs.shapes.items():
        tensor = torch.randn(shape, generator=generator).to(getattr(torch, DTYPES[dtype]))
        values[name] = tensor.requires_grad_(backward)
    call = _readable(function)
    bound = inspect.signature(call).bind(**values)
    if bound.kwargs and call is not function:
        raise CannotGuess(f"{call.__name__} takes its arguments by position only")
    keywords = bound.kwargs
    names = list(bound.arguments)[: len(bound.args)]

    def run(*args: Any) -> Any:
        result = call(*args, **keywords)
        if backward:
            first = result[0] if isinstance(result, tuple | list) else result
            first.backward(torch.ones_like(first))
        return result

    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # the meter names tensors by it
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    )
    return run, list(bound.args)


def _try_another(error: BaseException, dtypes: int, tries: int) -> bool:
    """Whether other inputs may do better: the host code refused these, or the dots take no such dtype."""
    if isinstance(error, KernelFault):
        return error.finding.kind == "dot_operands" and dtypes > 1
    return tries * dtypes > 1 and not isinstance(error, NotImplementedError)


def _describe(error: BaseException | None, file: Path) -> str:
    if error is None:
        return ""
    if isinstance(error, KernelFault | Unusable | CannotGuess):
        return str(error)
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == str(file):
            frames.append(traceback.tb_lineno)
        traceback = traceback.tb_next
    where = f" at {file.name}, line {frames[-1]}" if frames else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:400]}{where}" if text else f"{type(error).__name__}{where}"


def _shapes(inputs: Inputs) -> str:
    return ", ".join(f"{name} {_size(shape)}" for name, shape in inputs.shapes.items())


def _size(shape: Shape) -> str:
    return "×".join(map(str, shape))


def _triton_version() -> str:
    import triton

    return str(triton.__version__)


if __name__ == "__main__":
    main()
