"""The walk through an assignment's published values: which call gives which, and which no call gives.

A mapping file says both; its head explains the fields. `conftest.py` makes this module importable by name.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import model_validator

from grader.checks import traced
from grader.checks.mistakes import load_solution
from specs import Cost, Event, Gpt, Gpu, Link, Model, Recipe, gpu, model, recipe
from specs.assignment import assignment
from specs.published import PublishedValue, Topic, published, published_value
from specs.schema import Spec, read_yaml, validate

SOLUTIONS = Path(__file__).parents[2] / "solutions"

UNITS = {
    "one": 1,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "GB": 10**9,
    "MiB": 2**20,
    "GiB": 2**30,
    "percent": 0.01,
    "ms": 1e-3,
    "us": 1e-6,
    "hours of a day": 1 / 24,
}
Unit = Literal[
    "one",
    "thousand",
    "million",
    "billion",
    "trillion",
    "GB",
    "MiB",
    "GiB",
    "percent",
    "ms",
    "us",
    "hours of a day",
    "sbhL",
]
Reason = Literal["recalled", "lacks inputs", "no exercise computes it", "belongs to a later assignment"]

_ARITHMETIC = re.compile(r"[\d.e+*/() -]*\d[\d.e+*/() -]*")


class ExerciseCall(Spec):
    """One call of an exercise, and the term of its result that counts; without a term all of it does.

    `assignment` is named where the exercise is not of the assignment that the mapping is of. The term of a list is that
    of its one element.
    """

    exercise: str
    arguments: dict[str, Any]
    term: str = ""
    assignment: str = ""

    def result(self, of: str) -> Any:
        """What the reference solution of assignment `of` returns, or of the one that is named."""
        of = self.assignment or of
        arguments = {name: _argument(of, name, given) for name, given in self.arguments.items()}
        file = assignment(of).file_of(self.exercise)
        assert file is not None, f"no exercise asks for a function {self.exercise}"
        result = getattr(load_solution(SOLUTIONS, of, file), self.exercise)(**arguments)
        if isinstance(result, list) and self.term:
            (result,) = result
        return getattr(result, self.term) if self.term else result


class Reproduced(Spec):
    """How one published value comes out of one call, or of the ratio, the difference or the sum of two."""

    id: str
    unit: Unit = "one"
    call: ExerciseCall
    over: ExerciseCall | None = None
    less: ExerciseCall | None = None
    plus: ExerciseCall | None = None

    @model_validator(mode="after")
    def _two_calls_at_most(self) -> Self:
        if [self.over, self.less, self.plus].count(None) < 2:
            raise ValueError("over, less and plus: give one of them")
        return self

    def value(self, of: str) -> float:
        """The number in the published unit, from the solution of assignment `of`."""
        value: float = self.call.result(of)
        if self.over is not None:
            value = value / self.over.result(of)
        if self.less is not None:
            value = value - self.less.result(of)
        if self.plus is not None:
            value = value + self.plus.result(of)
        if self.unit == "sbhL":
            sizes = self.call.arguments
            one_value_everywhere: int = sizes["sequence"] * sizes["batch"] * sizes["hidden"] * sizes["layers"]
            return value / one_value_everywhere
        return value if self.unit == "one" else value / UNITS[self.unit]


class Excluded(Spec):
    """Values that no call gives, and why."""

    reason: Reason
    why: str
    ids: tuple[str, ...]


def _argument(of: str, name: str, given: Any) -> Any:
    if isinstance(given, dict) and "exercise" in given:
        return ExerciseCall(**given).result(of)
    if name == "model":
        return model(given) if isinstance(given, str) else _inline_model(given)
    if name == "recipe":
        return recipe(given) if isinstance(given, str) else Recipe(**given)
    if name == "gpu":
        return gpu(given) if isinstance(given, str) else _inline_gpu(**given)
    if name in ("link", "network"):
        return Link(**{field: _number(value) for field, value in given.items()})
    if name == "gpt":
        return Gpt(**given)
    if name == "cost":
        return Cost(**{field: _number(value) for field, value in given.items()})
    if name == "events":
        return _events(**given)
    if name == "matrices":
        return [tuple(shape) for shape in given]
    return _number(given)


def _number(given: Any) -> Any:
    """Arithmetic in a mapping file, as 2*48*6144, worked out; anything else as it is."""
    if isinstance(given, str) and _ARITHMETIC.fullmatch(given):
        return eval(given, {"__builtins__": {}})
    return given


def _inline_model(fields: dict[str, Any]) -> Model:
    return Model(**{**fields, "attention": {"kind": "grouped", **fields["attention"]}})


def _inline_gpu(tflops: dict[str, Any], gb_per_s: Any) -> Gpu:
    """A card of which only the rates matter."""
    return Gpu(
        name="inline",
        dense_tflops={dtype: _number(rate) for dtype, rate in tflops.items()},
        memory_label_gb=16,
        memory_bytes=16_000_000_000,
        memory_bytes_status="estimated",
        hbm_gb_per_s=_number(gb_per_s),
    )


def _events(step_us: int, **runs_us: list[list[Any]]) -> list[Event]:
    """A trace of one step: by kernel name the intervals in which it runs, in microseconds."""
    events = [traced.step(1, 0, 1000 * step_us)]
    for name, intervals in runs_us.items():
        cat = "gpu_memcpy" if name.startswith("Memcpy") else "kernel"
        events += [traced.event(cat, name, 1000 * begin, 1000 * end) for begin, end in intervals]
    return events


def _reproduced(mapping: Path) -> tuple[Reproduced, ...]:
    mapped: tuple[Reproduced, ...] = validate(
        tuple[Reproduced, ...], read_yaml(mapping)["reproduced"], mapping
    )
    return mapped


def _excluded(mapping: Path) -> tuple[Excluded, ...]:
    left_out: tuple[Excluded, ...] = validate(tuple[Excluded, ...], read_yaml(mapping)["excluded"], mapping)
    return left_out


@dataclass(frozen=True)
class Walk:
    """The published values of one assignment, and its mapping file.

    `beside` is a second mapping file of the same topics, whose calls another walk makes: what is listed there is
    accounted for.
    """

    assignment: str
    topics: tuple[Topic, ...]
    mapping: Path
    beside: Path | None = None

    @cached_property
    def published(self) -> tuple[PublishedValue, ...]:
        """Every value of the topics."""
        return tuple(value for topic in self.topics for value in published(topic))

    @cached_property
    def reproduced(self) -> tuple[Reproduced, ...]:
        """Every value that a call gives."""
        return _reproduced(self.mapping)

    @cached_property
    def excluded(self) -> tuple[Excluded, ...]:
        """Every value that no call gives, by reason."""
        return _excluded(self.mapping)

    @cached_property
    def accounted_for(self) -> tuple[tuple[str, str], ...]:
        """(id, "reproduced" or the reason) for every listed value, those of the mapping beside included."""
        mappings = [path for path in (self.mapping, self.beside) if path is not None]
        fates = [(entry.id, "reproduced") for path in mappings for entry in _reproduced(path)]
        groups = [group for path in mappings for group in _excluded(path)]
        return (*fates, *((value_id, group.reason) for group in groups for value_id in group.ids))

    def counts(self) -> dict[str, Counter[str]]:
        """For each topic how many values are reproduced, excluded by reason, or not exact, by their use."""
        by_topic: dict[str, Counter[str]] = {}
        fates = dict(self.accounted_for)
        for value in self.published:
            fate = fates.get(value.id, "UNACCOUNTED") if value.use == "exact" else value.use
            by_topic.setdefault(value.topic, Counter())[fate] += 1
        return by_topic

    def summary(self) -> str:
        """The counts as lines of text."""
        rows = self.counts()
        rows["all"] = sum(rows.values(), Counter())
        lines = [f"published values of the {self.assignment} assignment"]
        for topic, counted in rows.items():
            shown = ", ".join(f"{name} {number}" for name, number in counted.most_common())
            lines.append(f"  {topic:<11}{counted.total():>4}: {shown}")
        return "\n".join(lines)

    def check_value(self, entry: Reproduced) -> None:
        """Assert that the call gives the published value, within the value's own tolerance."""
        value = published_value(entry.id)
        got = entry.value(self.assignment)
        assert value.accepts(got), (
            f"{entry.id}: {got} {value.unit}, published {value.expected} ({value.source})"
        )

    def check_every_exact_value_is_listed_once(self) -> None:
        """Assert that no exact value is missing, none is there twice, and no other value is listed."""
        listed = Counter(value_id for value_id, _ in self.accounted_for)
        exact = {value.id for value in self.published if value.use == "exact"}
        assert exact - set(listed) == set(), "neither reproduced nor excluded"
        assert set(listed) - exact == set(), "no exact value has this id"
        assert [value_id for value_id, times in listed.items() if times > 1] == []

    def check_recalled_values_are_excluded(self) -> None:
        """Assert that exactly the values whose source nobody has seen are excluded as recalled."""
        recalled = {
            value.id for value in self.published if value.use == "exact" and value.source_status == "recalled"
        }
        assert recalled == {value_id for value_id, fate in self.accounted_for if fate == "recalled"}
