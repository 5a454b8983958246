"""One run of a user's function in a process of its own: interpreted and metered, or compiled only.

Started as `python -m grader.kernel_report.child RESULT`, with the task as a line of JSON on standard input, which
stays open as long as the parent lives. It writes its answer as JSON to the file RESULT, since the function may print.
The code is the user's own: nothing is confined.
"""

import bdb
import os
import pdb
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.kernel_report import progress
from grader.kernel_report.calling import Call, described_tensor, found_tensors
from grader.kernel_report.families import TensorOf
from grader.kernel_report.loading import Unusable, described, load
from grader.kernel_report.signatures import CannotGuess, Inputs, candidates, parse_argument
from grader.kernel_report.task import Answer, SecondLook, Task
from grader.kernels.evidence import CallEvidence, Finding
from grader.kernels.faults import KernelFault, UnsupportedTriton

PATIENCE_S = 600.0
"""Longest that a child may take."""
_KNOWN_TARGET = "sm_90"
# The usual names of what a function is there to write to.
_OUTPUTS = ("out", "output", "outputs", "dst", "y_out", "out_ptr")


def main() -> None:
    """Answer the task of standard input into the file of the first argument."""
    result = Path(sys.argv[1])
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    try:
        _warm_up(interpreted)  # the parent may have the task later: importing takes longest
        stream = sys.stdin
        line = stream.readline()
        if not line:  # the parent has nothing to ask after all
            return
        task = Task.model_validate_json(line)
        sys.stdin = open(os.devnull)  # noqa: SIM115 - the function must not wait for input
        _pass_over_breakpoints()
        sys.argv = [str(task.file)]  # a file that reads arguments while it is imported gets none
        progress.end_with_parent(stream)

        def give_up(reason: str) -> None:
            _write(result, Answer(problem=reason))
            os._exit(0)

        if interpreted:
            progress.tell_progress(
                lambda text: print(f"grader: {text}", file=sys.stderr), PATIENCE_S, give_up
            )
        _write(result, interpret(task) if interpreted else compile_only(task))
    except (CannotGuess, Unusable, UnsupportedTriton) as error:
        _write(result, Answer(problem=str(error)))
    except KeyboardInterrupt:
        os._exit(130)  # Ctrl-C goes to the whole terminal; the parent says what there is to say


def _pass_over_breakpoints() -> None:
    """Nobody can type into this process; `--debug` interprets in the command's own."""

    def go_on(*args: Any, **kwargs: Any) -> None:
        return None

    sys.breakpointhook = go_on
    pdb.set_trace = go_on


def _write(result: Path, answer: Answer) -> None:
    draft = result.with_suffix(".part")
    draft.write_text(answer.model_dump_json(), encoding="utf-8")
    draft.replace(result)


def _warm_up(interpreted: bool) -> None:
    warnings.filterwarnings(
        "ignore", module=r"triton\."
    )  # deprecations: the report is on what the kernel does
    if interpreted:
        from grader.kernels import recorder

        recorder.install()  # before the user's file is imported: its decorators look for the interpreter
    else:
        from triton.compiler import compile  # noqa: F401 - whether it can be imported

        from grader.kernels import compiled  # noqa: F401 - whether it can be imported


def interpret(task: Task) -> Answer:
    """Run the function under the faithful interpreter, metered and sanitized.

    A candidate that the function's host code refuses makes way for the next; so does a dtype that it cannot take. A
    candidate that was guessed and ran well runs once more with sizes that no tile divides.

    Raises:
        CannotGuess: the inputs have to be named.
        Unusable: the file or the function is of no use.
        UnsupportedTriton: the installed triton cannot be mended.
        KeyboardInterrupt: the user left the debugger.
    """
    from grader.kernels.compiled import TARGETS, stand_in_device

    _warm_up(interpreted=True)
    # Files ask for the number of SMs, or for the active device, while they are imported and when they are called.
    with stand_in_device(task.target if task.target in TARGETS else _KNOWN_TARGET):
        function, fault = _loaded(task)
        if function is None:
            return fault
        tries = candidates(function, task.shapes, dict(parse_argument(text) for text in task.arguments))
        return _first_that_works(task, function, tries)


def _first_that_works(task: Task, function: Callable[..., Any], tries: list[Inputs]) -> Answer:
    refused: list[str] = []
    findings: dict[str, Finding] = {}
    answers: list[Answer] = []
    for dtype in task.dtypes:
        for number, inputs in enumerate(tries):
            if task.chosen not in (None, number):
                continue
            answer, error = _recorded(task, function, inputs, dtype)
            told = tuple((name, finding) for name, finding in findings.items() if name != dtype)
            answer = answer.model_copy(
                update={"chosen": number, "refused": tuple(refused), "refused_findings": told}
            )
            if error is None or not _try_another(error, len(task.dtypes), len(tries)):
                well = error is None and not answer.evidence.findings
                again = _second_look(task, function, inputs, dtype) if well and inputs.ragged else None
                return answer.model_copy(update={"second_look": again})
            answers.append(answer)
            sizes = ", ".join(f"{each.name} {'×'.join(map(str, each.shape))}" for each in answer.inputs)
            refused.append(f"{dtype}, {sizes}: {answer.problem}")
            if isinstance(error, KernelFault):
                findings[dtype] = error.finding
                break  # the inputs were the function's, the dtype was not
    # None works: that whose kernels were reached, else the first, which the user most likely has in mind.
    best = next((each for each in answers if each.evidence.launches), answers[0])
    others = [reason for each, reason in zip(answers, refused, strict=True) if each is not best]
    return best.model_copy(update={"refused": tuple(others), "refused_findings": ()})


def _recorded(
    task: Task, function: Callable[..., Any], inputs: Inputs, dtype: str
) -> tuple[Answer, BaseException | None]:
    call = Call(function, inputs, dtype, task.backward)
    began = time.perf_counter()
    value, error, evidence = _run(task, function, call)
    answer = Answer(
        called=True,
        problem=described(error, task.file),
        dtype=dtype,
        inputs=call.inputs,
        others=call.others,
        outputs=tuple(described_tensor(name, tensor) for name, tensor in found_tensors(value)),
        assumed=inputs.assumed,
        evidence=evidence,
        triton=_triton_version(),
        seconds=time.perf_counter() - began,
    )
    return answer, error


def _run(
    task: Task, function: Callable[..., Any], call: Call
) -> tuple[Any, BaseException | None, CallEvidence]:
    from grader.kernels import recorder

    names = {each.name for each in call.inputs}
    in_place = str(getattr(function, "__name__", "")).endswith("_")  # as PyTorch marks it
    may_modify = {*task.writes, *(names if in_place else names.intersection(_OUTPUTS))}
    try:
        recorded = recorder.call_recorded(
            call.run, call.args, call.keywords, may_modify=may_modify, root=str(task.file.parent)
        )
    except SystemExit as error:
        raise Unusable(f"{task.function} ended the process: sys.exit({error.code!r})") from None
    if isinstance(recorded.error, bdb.BdbQuit):
        raise KeyboardInterrupt
    if isinstance(recorded.error, Unusable):
        raise recorded.error
    return recorded.value, recorded.error, recorded.evidence


def _second_look(task: Task, function: Callable[..., Any], inputs: Inputs, dtype: str) -> SecondLook | None:
    sizes: dict[str, TensorOf] = dict(inputs.ragged)
    if sizes == dict(inputs.tensors):
        return None
    call = Call(function, Inputs(sizes, inputs.others), dtype, task.backward)
    _, error, evidence = _run(task, function, call)
    stopped = isinstance(error, KernelFault)
    return SecondLook(
        inputs=call.inputs, problem="" if stopped else described(error, task.file), evidence=evidence
    )


def compile_only(task: Task) -> Answer:
    """Compile every launch of the function for the target; none runs.

    Raises:
        CannotGuess: the inputs have to be named.
        Unusable: the file or the function is of no use.
        UnsupportedTriton: triton was imported with TRITON_INTERPRET set.
    """
    from grader.kernels import compiled

    with compiled.stand_in_device(task.target):
        function, fault = _loaded(task)
    if function is None:
        return fault
    inputs = candidates(function, task.shapes, dict(parse_argument(text) for text in task.arguments))[
        task.chosen or 0
    ]
    call = Call(function, inputs, task.dtypes[0], task.backward)
    began = time.perf_counter()
    try:
        result = compiled.compile_call(call.run, call.args, call.keywords, target=task.target, cache=None)
    except SystemExit as error:
        raise Unusable(f"{task.function} ended the process: sys.exit({error.code!r})") from None
    return Answer(
        called=True,
        problem=described(result.error, task.file),
        chosen=task.chosen or 0,
        dtype=task.dtypes[0],
        compiled=result.launches,
        triton=_triton_version(),
        seconds=time.perf_counter() - began,
    )


def _loaded(task: Task) -> tuple[Callable[..., Any], Answer] | tuple[None, Answer]:
    """The function; or, where the file insists on a GPU while it is imported, the finding as an answer."""
    from grader.kernels import interpreter

    try:
        return load(task.file, task.function), Answer()
    except Unusable:
        raise
    except SystemExit as error:
        raise Unusable(
            f"{task.file.name} ends the process while it is imported: sys.exit({error.code!r})"
        ) from None
    except Exception as error:  # importing runs the user's code, which may raise anything
        if isinstance(error, bdb.BdbQuit):
            raise KeyboardInterrupt from None
        told = interpreter.explain(error) or error
        if isinstance(told, KernelFault):
            return None, Answer(problem=str(told), evidence=CallEvidence(findings=(told.finding,)))
        raise Unusable(f"{task.file.name} cannot be imported: {described(told, task.file)}") from None


def _try_another(error: BaseException, dtypes: int, tries: int) -> bool:
    """Whether other inputs may do better: the host code refused these, or the dots take no such dtype."""
    if isinstance(error, KernelFault):
        return error.finding.kind == "dot_operands" and dtypes > 1
    return tries * dtypes > 1 and not isinstance(error, NotImplementedError)


def _triton_version() -> str:
    import triton

    return str(triton.__version__)


if __name__ == "__main__":
    main()
