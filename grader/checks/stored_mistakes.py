"""What a student's bundle knows of the mistakes: digests of wrong values, hints, and no right value."""

import json
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from grader.calls.runner import Lanes
from grader.calls.submission import Call
from grader.checks.mistakes import LiveMistakes, Mistake
from grader.checks.outlines import Outline, Sketch, outline


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
        self._sketches: dict[str, list[list[float]]] = stored.get("sketches", {})
        self._right: dict[str, dict[str, list[str]]] = stored.get("right", {})

    def leaves_alone(self, exercise: str, function: str) -> set[str]:
        """Names of the mistakes that had no wrong `function`."""
        return {name for name, wrong in self._functions.get(exercise, {}).items() if function not in wrong}

    def explains(self, exercise: str, call: Call, among: Collection[str] | None = None) -> set[str]:
        """Names (numbers, in a bundle) of the mistakes whose stored value is what this call returned."""
        known = self._values.get(exercise, {}).get(call.key, {})
        if not known:
            return set()
        got = outline(call.got)
        found = set()
        for entry in known.get(value_key(call, got.exact), []):
            name, _, number = entry.partition("/")
            sketches = tuple(map(Sketch.from_list, self._sketches[number])) if number else ()
            if got.matches(Outline(got.exact, sketches)):
                found.add(name)
        return found if among is None else found & set(among)

    def is_right(self, exercise: str, call: Call, among: Collection[str]) -> set[str]:
        """Names of the mistakes, of `among`, that answered this call as the solution did, bit by bit."""
        return set(among) & set(self._right.get(exercise, {}).get(call.key, []))

    def shows(self, exercise: str, symptom: str) -> set[str]:
        """Names of the mistakes that had this symptom."""
        return set(self._symptoms.get(exercise, {}).get(symptom, []))

    def hint(self, mistake: str) -> str:
        """The hint of one mistake."""
        return self._hints[mistake]


def stored_form(
    mistakes: Sequence[Mistake], calls: Mapping[str, Sequence[Call]], lanes: Lanes | None = None
) -> dict[str, Any]:
    """What StoredMistakes reads: for each visible call the digests and sketches of the wrong values. No right value.

    Args:
        mistakes: of one assignment.
        calls: the calls that the visible tests make, by exercise, with the solution's values.
        lanes: runs the mistakes in Triton kernels and on ranks.
    """
    live = LiveMistakes(mistakes, lanes)
    numbers = {mistake.name: f"{index:03d}" for index, mistake in enumerate(mistakes)}
    values: dict[str, dict[str, dict[str, list[str]]]] = {}
    symptoms: dict[str, dict[str, list[str]]] = {}
    sketches: dict[str, list[list[float]]] = {}
    right: dict[str, dict[str, list[str]]] = {}
    functions: dict[str, dict[str, list[str]]] = {}
    for mistake, exercise in [(each, exercise) for each in mistakes for exercise in each.exercises]:
        number = numbers[mistake.name]
        functions.setdefault(exercise, {})[number] = sorted(mistake.functions)
        for symptom in mistake.symptoms:
            symptoms.setdefault(exercise, {}).setdefault(symptom, []).append(number)
        seen: set[str] = set()
        for call in calls.get(exercise, ()):
            if call.request.function not in mistake.functions or call.key in seen:
                continue
            seen.add(call.key)
            value = live.value(mistake, call)
            if value is None:
                continue
            entry = number
            if value.sketches:
                if value == outline(call.got):
                    right.setdefault(exercise, {}).setdefault(call.key, []).append(number)
                entry = f"{number}/{len(sketches)}"
                sketches[str(len(sketches))] = [sketch.as_list() for sketch in value.sketches]
            by_value = values.setdefault(exercise, {}).setdefault(call.key, {})
            by_value.setdefault(value_key(call, value.exact), []).append(entry)
    hints = {numbers[mistake.name]: mistake.hint for mistake in mistakes}
    return {
        "values": values,
        "sketches": sketches,
        "right": right,
        "symptoms": symptoms,
        "functions": functions,
        "hints": hints,
    }
