"""Named mistakes: plausible wrong functions, and how one's hint is found from what a student's code returned.

A mistake is one file in `solutions/<assignment>/mistakes/`: a docstring that says what is wrong, EXERCISE,
HINT, FAILS (names of the test functions that must fail), and the wrong function itself, or, for what no value
shows, SYMPTOMS (names of failed properties). It may import the right functions, `from ..state import ...`.
"""

import importlib
import json
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from grader.calls.submission import Call
from grader.worker import wire


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


class HintSource(Protocol):
    """Says which mistakes explain a call or a failed property."""

    def explains(self, exercise: str, call: Call) -> set[str]:
        """Names of the mistakes that would have returned what this call returned."""

    def leaves_alone(self, exercise: str, function: str) -> set[str]:
        """Names of the mistakes that do this function right."""

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
    if symptom:
        candidates = source.shows(exercise, symptom)
    else:
        candidates = _fitting(source, exercise, calls)
        if candidates:
            blameless = set(candidates)  # a mistake in none of the functions called here explains nothing
            for call in calls:
                blameless &= source.leaves_alone(exercise, call.request.function)
            candidates -= blameless
            # Of the same functions: a student may make a mistake in one function and not in its sibling.
            called = {call.request.function for call in calls}
            same = [call for call in right if call.request.function in called]
            candidates &= _fitting(source, exercise, same, candidates)
    if len(candidates) > 1:
        candidates &= _fitting(source, exercise, earlier, candidates) or candidates
    if len(candidates) != 1:
        return "", ""
    name = candidates.pop()
    return name, source.hint(name)


def _fitting(
    source: HintSource, exercise: str, calls: Iterable[Call], candidates: set[str] | None = None
) -> set[str]:
    """Mistakes, of `candidates` where given, that fit every call: by its value, or by leaving its function alone."""
    fitting = candidates
    for call in calls:
        fits = source.explains(exercise, call) | source.leaves_alone(exercise, call.request.function)
        fitting = fits if fitting is None else fitting & fits
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


def load_mistakes(solutions: Path, assignment: str) -> list[Mistake]:
    """Every mistake of an assignment, by file name.

    Raises:
        MistakeBroken: a file lacks its docstring, EXERCISE, HINT, FAILS, or a function or symptom.
    """
    folder = solutions / assignment / "mistakes"
    package = solution_package(solutions, assignment)
    found = []
    for path in sorted(folder.glob("*.py")):
        if path.stem.startswith("_"):
            continue
        module = importlib.import_module(f"{package}.mistakes.{path.stem}")
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
        if isinstance(value, types.FunctionType)
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
    )


class LiveMistakes:
    """Explains a call by running the mistakes on its arguments. For where `solutions/` is at hand."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self._by_exercise: dict[str, list[Mistake]] = {}
        self._hints: dict[str, str] = {}
        for mistake in mistakes:
            self._by_exercise.setdefault(mistake.exercise, []).append(mistake)
            self._hints[mistake.name] = mistake.hint
        self._values: dict[tuple[str, str], bytes | None] = {}
        self._explained: dict[tuple[str, str, bytes], frozenset[str]] = {}

    def explains(self, exercise: str, call: Call) -> set[str]:
        """Names of the mistakes that return what this call returned."""
        key = (exercise, call.key, call.value)
        if key not in self._explained:
            self._explained[key] = frozenset(
                mistake.name
                for mistake in self._by_exercise.get(exercise, [])
                if call.request.function in mistake.functions and self.value(mistake, call) == call.value
            )
        return set(self._explained[key])

    def leaves_alone(self, exercise: str, function: str) -> set[str]:
        """Names of the mistakes that define no wrong `function`."""
        return {m.name for m in self._by_exercise.get(exercise, []) if function not in m.functions}

    def shows(self, exercise: str, symptom: str) -> set[str]:
        """Names of the mistakes that list this symptom."""
        return {
            mistake.name for mistake in self._by_exercise.get(exercise, []) if symptom in mistake.symptoms
        }

    def hint(self, mistake: str) -> str:
        """The hint of one mistake."""
        return self._hints[mistake]

    def value(self, mistake: Mistake, call: Call) -> bytes | None:
        """What the mistake returns for a call, in canonical form; None where it raises or needs a probe."""
        if call.request.probe:
            return None
        key = (mistake.name, call.key)
        if key not in self._values:
            try:
                value = mistake.functions[call.request.function](*call.request.args, **call.request.kwargs)
                self._values[key] = wire.canonical(wire.decode(*wire.encode(value)))
            except Exception:  # a wrong function may fail in any way; then it explains nothing
                self._values[key] = None
        return self._values[key]


def value_key(call: Call, value: bytes) -> str:
    """Names a value, salted by its call so that equal values of different calls look unrelated."""
    return sha256(call.key.encode() + value).hexdigest()[:24]


class StoredMistakes:
    """Explains a call from digests of wrong values stored when a student's bundle was built."""

    def __init__(self, path: Path) -> None:
        stored = json.loads(path.read_text(encoding="utf-8"))
        self._values: dict[str, dict[str, dict[str, list[str]]]] = stored["values"]
        self._symptoms: dict[str, dict[str, list[str]]] = stored["symptoms"]
        self._hints: dict[str, str] = stored["hints"]
        self._functions: dict[str, dict[str, list[str]]] = stored["functions"]

    def leaves_alone(self, exercise: str, function: str) -> set[str]:
        """Names of the mistakes that had no wrong `function`."""
        return {name for name, wrong in self._functions.get(exercise, {}).items() if function not in wrong}

    def explains(self, exercise: str, call: Call) -> set[str]:
        """Names (numbers, in a bundle) of the mistakes whose stored value equals what this call returned."""
        known = self._values.get(exercise, {}).get(call.key, {})
        return set(known.get(value_key(call, call.value), []))

    def shows(self, exercise: str, symptom: str) -> set[str]:
        """Names of the mistakes that had this symptom."""
        return set(self._symptoms.get(exercise, {}).get(symptom, []))

    def hint(self, mistake: str) -> str:
        """The hint of one mistake."""
        return self._hints[mistake]


def stored_form(mistakes: Sequence[Mistake], calls: Mapping[str, Sequence[Call]]) -> dict[str, Any]:
    """What StoredMistakes reads: for each visible call the digests of the wrong values. No right value.

    Args:
        calls: the calls that the visible tests make, by exercise.
    """
    live = LiveMistakes(mistakes)
    numbers = {mistake.name: f"{index:03d}" for index, mistake in enumerate(mistakes)}
    values: dict[str, dict[str, dict[str, list[str]]]] = {}
    symptoms: dict[str, dict[str, list[str]]] = {}
    for mistake in mistakes:
        for symptom in mistake.symptoms:
            symptoms.setdefault(mistake.exercise, {}).setdefault(symptom, []).append(numbers[mistake.name])
        for call in calls.get(mistake.exercise, ()):
            if call.request.function not in mistake.functions:
                continue
            value = live.value(mistake, call)
            if value is not None:
                by_value = values.setdefault(mistake.exercise, {}).setdefault(call.key, {})
                names = by_value.setdefault(value_key(call, value), [])
                if numbers[mistake.name] not in names:
                    names.append(numbers[mistake.name])
    functions: dict[str, dict[str, list[str]]] = {}
    for mistake in mistakes:
        functions.setdefault(mistake.exercise, {})[numbers[mistake.name]] = sorted(mistake.functions)
    hints = {numbers[mistake.name]: mistake.hint for mistake in mistakes}
    return {"values": values, "symptoms": symptoms, "functions": functions, "hints": hints}
