"""Named mistakes: plausible wrong functions, and how one's hint is found from what a student's code returned.

A mistake is one file in `solutions/<assignment>/mistakes/`: a docstring that says what is wrong, EXERCISE,
HINT, FAILS (names of the test functions that must fail), and the wrong function itself; for what no value shows,
SYMPTOMS (names of failed properties); and where its function serves several exercises, ALSO, the other ones that
lose points by it. It may import the right functions, `from ..state import ...`.
"""

import importlib
import sys
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from grader.calls.faults import Crashed, KernelFinding, RanksDisagree, TimedOut
from grader.calls.ranked import RankedCall
from grader.calls.runner import IN_A_WORKER, Lanes, Request
from grader.calls.submission import TOO_LARGE, Call, finding_value
from grader.checks.outlines import Outline, outline
from grader.worker import verbs, wire


class MistakeBroken(ValueError):
    """A mistake file lacks something; the message names the file and what."""


@dataclass(frozen=True)
class Mistake:
    """One named wrong way to do an exercise."""

    name: str
    """`memory.kv_cache_bytes.keys_without_values`"""
    exercise: str
    summary: str
    hint: str
    fails: tuple[str, ...]
    symptoms: tuple[str, ...] = ()
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict, hash=False)
    also: tuple[str, ...] = ()
    """Exercises of the same function that lose points too."""
    file: str = ""
    """Relative to the assignment's folder of solutions: `mistakes/keys_without_values.py`."""
    solutions: Path = Path("solutions")
    """The folder of all solutions that it is one of."""

    @property
    def exercises(self) -> tuple[str, ...]:
        """All exercises in which the mistake shows."""
        return (self.exercise, *self.also)


class HintSource(Protocol):
    """Says which mistakes explain a call or a failed property."""

    def explains(self, exercise: str, call: Call, among: Collection[str] | None = None) -> set[str]:
        """Names of the mistakes, of `among` where given, that would have returned what this call returned."""

    def leaves_alone(self, exercise: str, function: str) -> set[str]:
        """Names of the mistakes that do this function right."""

    def is_right(self, exercise: str, call: Call, among: Collection[str]) -> set[str]:
        """Names of the mistakes, of `among`, that answer this call as the solution does, bit by bit."""

    def shows(self, exercise: str, symptom: str) -> set[str]:
        """Names of the mistakes that have this symptom."""

    def hint(self, mistake: str) -> str:
        """The hint of one mistake."""


def find_hint(
    source: HintSource,
    exercise: str,
    calls: Sequence[Call],
    right: Iterable[Call],
    earlier: Iterable[Call],
    symptom: str,
) -> tuple[str, str]:
    """The one mistake that explains a failed check, as (name, hint); two empty strings if not just one does.

    Args:
        calls: calls of the failed check; the mistake must have returned all that they returned.
        right: calls of the exercise's checks that passed: whoever answers these right has made no mistake that
            would answer them wrong.
        earlier: all calls of the exercise so far: they decide between mistakes that agree on this check.
    """
    right, earlier = _comparable(right), _comparable(earlier)
    candidates = source.shows(exercise, symptom) if symptom else set()
    if calls:  # a mistake in none of the functions called here explains nothing
        candidates -= _blameless(source, exercise, calls, candidates)
    if len(candidates) > 1:  # one property may fail by several mistakes: the values decide
        candidates = _explaining(source, exercise, calls, right, candidates) or candidates
    elif not candidates and (not symptom or symptom.startswith((KERNEL_SYMPTOM, RANKS_SYMPTOM))):
        candidates = _explaining(source, exercise, calls, right)
    if len(candidates) > 1:
        candidates &= _fitting(source, exercise, earlier, candidates) or candidates
    if len(candidates) != 1:
        return "", ""
    name = candidates.pop()
    return name, source.hint(name)


def _comparable(calls: Iterable[Call]) -> list[Call]:
    """Without the values that were too large to be kept: no mistake returns such a one, and none is ruled out by it."""
    return [call for call in calls if call.got is not TOO_LARGE]


KERNEL_SYMPTOM = "kernel."
"""How the symptom of a sanitizer's finding begins: `kernel.out_of_bounds_load`."""
RANKS_SYMPTOM = "ranks."
"""How the symptom of a call on ranks that came to no good end begins: `ranks.mismatch`."""


def _explaining(
    source: HintSource,
    exercise: str,
    calls: Sequence[Call],
    right: Iterable[Call],
    among: set[str] | None = None,
) -> set[str]:
    """Mistakes, of `among` where given, that would have returned what the calls of a failed check returned."""
    candidates = _fitting(source, exercise, calls, among) if calls else set()
    if not candidates:
        return candidates
    candidates -= _blameless(source, exercise, calls, candidates)
    # Of the same functions: a student may make a mistake in one function and not in its sibling. A probe's
    # report is no value that a mistake could be known by.
    called = {call.request.function for call in calls}
    same = [call for call in right if call.request.function in called and not call.request.probe]
    candidates &= _fitting(source, exercise, same, candidates)
    # What is off by little is near to the right value as well, and so to that of every mistake that shows elsewhere.
    harmless = set(candidates)
    for call in calls:
        harmless &= source.is_right(exercise, call, harmless)
    return candidates - harmless


def _blameless(
    source: HintSource, exercise: str, calls: Sequence[Call], candidates: Collection[str]
) -> set[str]:
    """Mistakes, of `candidates`, that leave every called function alone."""
    blameless = set(candidates)
    for call in calls:
        blameless &= source.leaves_alone(exercise, call.request.function)
    return blameless


def _fitting(
    source: HintSource, exercise: str, calls: Iterable[Call], candidates: set[str] | None = None
) -> set[str]:
    """Mistakes, of `candidates` where given, that fit every call: by its value, or by leaving its function alone."""
    fitting = candidates
    for call in calls:
        fits = source.explains(exercise, call, fitting) | source.leaves_alone(exercise, call.request.function)
        fitting = fits if fitting is None else fitting & fits
        if not fitting:
            break
    return set(fitting or ())


def solution_package(solutions: Path, assignment: str) -> str:
    """Name of a package that holds the solution's modules, so that relative imports among them work."""
    key = sha256(str(solutions.resolve()).encode()).hexdigest()[:8]
    name = f"_solutions_{key}_{assignment}"
    if name not in sys.modules:
        package = types.ModuleType(name)
        package.__path__ = [str(solutions / assignment)]
        sys.modules[name] = package
    return name


def load_solution(solutions: Path, assignment: str, file: str) -> types.ModuleType:
    """The solution's module; trusted code, imported into this process."""
    return importlib.import_module(f"{solution_package(solutions, assignment)}.{Path(file).stem}")


def load_mistakes(solutions: Path, assignment: str, left_out: list[str] | None = None) -> list[Mistake]:
    """Every mistake of an assignment, by file name.

    Where torch or triton is not installed, the mistakes that import it are left out, as their exercises are; their
    file names are added to `left_out`.

    Raises:
        MistakeBroken: a file lacks its docstring, EXERCISE, HINT, FAILS, or a function or symptom.
    """
    folder = solutions / assignment / "mistakes"
    package = solution_package(solutions, assignment)
    found = []
    for path in sorted(folder.glob("*.py")):
        if path.stem.startswith("_"):
            continue
        try:
            module = importlib.import_module(f"{package}.mistakes.{path.stem}")
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in ("torch", "triton"):
                raise
            if left_out is not None:
                left_out.append(path.stem)
            continue
        found.append(_mistake(path, module, assignment))
    return found


def _mistake(path: Path, module: types.ModuleType, assignment: str) -> Mistake:
    missing = [name for name in ("EXERCISE", "HINT", "FAILS") if not getattr(module, name, None)]
    if missing or not module.__doc__:
        raise MistakeBroken(f"{path}: lacks {', '.join(missing) or 'its docstring'}")
    exercise = f"{assignment}.{module.EXERCISE}"
    functions = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, types.FunctionType | type)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }
    if not functions:
        raise MistakeBroken(f"{path}: defines no wrong function")
    symptoms = tuple(getattr(module, "SYMPTOMS", ()))
    return Mistake(
        f"{exercise}.{path.stem}",
        exercise,
        module.__doc__.strip().splitlines()[0],
        module.HINT,
        tuple(module.FAILS),
        symptoms,
        functions,
        tuple(f"{assignment}.{name}" for name in getattr(module, "ALSO", ())),
        f"mistakes/{path.name}",
        path.parents[2],
    )


class LiveMistakes:
    """Explains a call by running the mistakes on its arguments. For where `solutions/` is at hand."""

    def __init__(self, mistakes: Iterable[Mistake], lanes: Lanes | None = None) -> None:
        """`lanes` runs the mistakes in Triton kernels and on ranks, which explain no value without it.

        The caller closes it.
        """
        self._by_exercise: dict[str, list[Mistake]] = {}
        self._hints: dict[str, str] = {}
        for mistake in mistakes:
            for exercise in mistake.exercises:
                self._by_exercise.setdefault(exercise, []).append(mistake)
            self._hints[mistake.name] = mistake.hint
        self._lanes = lanes
        self._values: dict[tuple[str, str], Outline | None] = {}
        self._matched: dict[tuple[str, str, bytes], bool] = {}

    def explains(self, exercise: str, call: Call, among: Collection[str] | None = None) -> set[str]:
        """Names of the mistakes, of `among` where given, that return what this call returned.

        On ranks a call takes half a second, and a hang several: a mistake that has symptoms is told by them there, and
        its values are asked for only to decide between it and others.
        """
        by_symptom = call.request.lane == "ranks" and among is None
        return {
            mistake.name
            for mistake in self._by_exercise.get(exercise, [])
            if (among is None or mistake.name in among)
            and call.request.function in mistake.functions
            and not (by_symptom and mistake.symptoms)
            and self._matches(mistake, call)
        }

    def _matches(self, mistake: Mistake, call: Call) -> bool:
        key = (mistake.name, call.key, call.value)
        if key not in self._matched:
            value = self.value(mistake, call)
            self._matched[key] = value is not None and value.matches(outline(call.got))
        return self._matched[key]

    def leaves_alone(self, exercise: str, function: str) -> set[str]:
        """Names of the mistakes that define no wrong `function`."""
        return {m.name for m in self._by_exercise.get(exercise, []) if function not in m.functions}

    def shows(self, exercise: str, symptom: str) -> set[str]:
        """Names of the mistakes that list this symptom."""
        return {
            mistake.name for mistake in self._by_exercise.get(exercise, []) if symptom in mistake.symptoms
        }

    def is_right(self, exercise: str, call: Call, among: Collection[str]) -> set[str]:
        """Names of the mistakes, of `among`, that answer this call as the solution does, bit by bit."""
        found = set()
        for mistake in self._by_exercise.get(exercise, []):
            if mistake.name not in among:
                continue
            value = self.value(mistake, call)
            # Of plain values a candidate has the very one that is wrong: only tensors are compared by and large.
            if (
                value is not None
                and value.sketches
                and value == self.value(_solution_of(mistake, call), call)
            ):
                found.add(mistake.name)
        return found

    def hint(self, mistake: str) -> str:
        """The hint of one mistake."""
        return self._hints[mistake]

    def value(self, mistake: Mistake, call: Call) -> Outline | None:
        """What the mistake returns for a call; None where it raises or needs a probe."""
        if call.request.probe:
            return None
        key = (mistake.name, call.key)
        if key not in self._values:
            try:
                self._values[key] = outline(self._run(mistake, call.request))
            except Exception:  # a wrong function may fail in any way; then it explains nothing
                self._values[key] = None
        return self._values[key]

    def _run(self, mistake: Mistake, request: Request) -> Any:
        if request.lane in IN_A_WORKER:
            if self._lanes is None:
                raise LookupError("no workers")
            try:
                got = self._lanes.run(replace(request, file=mistake.file, metered=False))
            except (KernelFinding, RanksDisagree, Crashed, TimedOut) as found:
                if not found.symptom:
                    raise
                return finding_value(found)
            return got.values if isinstance(got, RankedCall) else got
        given: Any = wire.decode(*wire.encode((request.args, dict(request.kwargs), dict(request.options))))
        args, kwargs, options = given
        function, args, kwargs = verbs.prepare(
            request.verb, verbs.callable_of(mistake.functions[request.function]), args, kwargs, options
        )
        return wire.decode(*wire.encode(function(*args, **kwargs)))


def _solution_of(mistake: Mistake, call: Call) -> Mistake:
    """The solution's own function, in the shape of a mistake; a worker finds it by its file alone."""
    request = call.request
    solution = replace(mistake, name="", file=request.file)
    if request.lane in IN_A_WORKER:
        return solution
    module = load_solution(mistake.solutions, request.assignment, request.file)
    return replace(solution, functions={request.function: getattr(module, request.function)})
