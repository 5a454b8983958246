"""The published values of the memory assignment follow from the reference solution's own functions.

`published_memory.yaml` says how: which call gives which value, and which values no call gives, and why.
Run this file by itself to print the counts: `python tests/specs/test_published_memory.py`.
"""

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

import pytest
from pydantic import model_validator

from grader.mistakes import load_solution
from specs import Model, Recipe, gpu, model, recipe
from specs.assignment import assignment
from specs.published import published, published_value
from specs.schema import Spec, read_yaml, validate

MAPPING_FILE = Path(__file__).with_name("published_memory.yaml")
SOLUTIONS = Path(__file__).parents[2] / "solutions"

UNITS = {
    "one": 1,
    "million": 10**6,
    "billion": 10**9,
    "GB": 10**9,
    "MiB": 2**20,
    "GiB": 2**30,
    "percent": 0.01,
}
Unit = Literal["one", "million", "billion", "GB", "MiB", "GiB", "percent", "sbhL"]
Reason = Literal["recalled", "lacks inputs", "no exercise computes it", "belongs to a later assignment"]


class ExerciseCall(Spec):
    """One call of an exercise, and the term of its result that counts."""

    exercise: str
    arguments: dict[str, Any]
    term: str

    def value(self) -> float:
        """What the reference solution returns."""
        arguments = {name: _argument(name, given) for name, given in self.arguments.items()}
        file = assignment("memory").file_of(self.exercise)
        assert file is not None, f"no exercise asks for a function {self.exercise}"
        function = getattr(load_solution(SOLUTIONS, "memory", file), self.exercise)
        value: float = getattr(function(**arguments), self.term)
        return value


class Reproduced(Spec):
    """How one published value comes out of one call, or of the ratio or the difference of two."""

    id: str
    unit: Unit = "one"
    call: ExerciseCall
    over: ExerciseCall | None = None
    less: ExerciseCall | None = None

    @model_validator(mode="after")
    def _two_calls_at_most(self) -> Self:
        if self.over is not None and self.less is not None:
            raise ValueError("over and less: give one of them")
        return self

    def value(self) -> float:
        """The number in the published unit."""
        value = self.call.value()
        if self.over is not None:
            value = value / self.over.value()
        if self.less is not None:
            value = value - self.less.value()
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


def _argument(name: str, given: Any) -> Any:
    if name == "model":
        return model(given) if isinstance(given, str) else _inline_model(given)
    if name == "recipe":
        return recipe(given) if isinstance(given, str) else Recipe(**given)
    if name == "matrices":
        return [tuple(shape) for shape in given]
    return given


def _inline_model(fields: dict[str, Any]) -> Model:
    return Model(**{**fields, "attention": {"kind": "grouped", **fields["attention"]}})


@cache
def reproduced() -> tuple[Reproduced, ...]:
    """Every value that a call gives."""
    mapped: tuple[Reproduced, ...] = validate(
        tuple[Reproduced, ...], read_yaml(MAPPING_FILE)["reproduced"], MAPPING_FILE
    )
    return mapped


@cache
def excluded() -> tuple[Excluded, ...]:
    """Every value that no call gives, by reason."""
    left_out: tuple[Excluded, ...] = validate(
        tuple[Excluded, ...], read_yaml(MAPPING_FILE)["excluded"], MAPPING_FILE
    )
    return left_out


def counts() -> dict[str, Counter[str]]:
    """For each topic how many values are reproduced, excluded by reason, or not exact, by their use."""
    by_topic: dict[str, Counter[str]] = {}
    fates = {entry.id: "reproduced" for entry in reproduced()}
    fates |= {value_id: group.reason for group in excluded() for value_id in group.ids}
    for value in published():
        fate = fates.get(value.id, "UNACCOUNTED") if value.use == "exact" else value.use
        by_topic.setdefault(value.topic, Counter())[fate] += 1
    return by_topic


def summary() -> str:
    """The counts as lines of text."""
    rows = counts()
    rows["all"] = sum(rows.values(), Counter())
    lines = ["published values of the memory assignment"]
    for topic, counted in rows.items():
        shown = ", ".join(f"{name} {number}" for name, number in counted.most_common())
        lines.append(f"  {topic:<11}{counted.total():>4}: {shown}")
    return "\n".join(lines)


@pytest.mark.parametrize("entry", reproduced(), ids=lambda entry: entry.id)
def test_the_solution_reproduces(entry: Reproduced) -> None:
    """The call gives the published value, within the value's own tolerance."""
    value = published_value(entry.id)
    got = entry.value()
    assert value.accepts(got), f"{entry.id}: {got} {value.unit}, published {value.expected} ({value.source})"


def test_every_exact_value_is_reproduced_or_excluded_and_never_both() -> None:
    """No exact value is unaccounted for, none is listed twice, and no value that is not exact is listed."""
    listed = Counter(entry.id for entry in reproduced())
    listed.update(value_id for group in excluded() for value_id in group.ids)
    exact = {value.id for value in published() if value.use == "exact"}
    assert exact - set(listed) == set(), "neither reproduced nor excluded"
    assert set(listed) - exact == set(), "no exact value has this id"
    assert [value_id for value_id, times in listed.items() if times > 1] == []


def test_what_is_only_recalled_is_excluded_for_that_reason() -> None:
    """A value whose source nobody has seen is not relied on, even where a call would give it."""
    recalled = {
        value.id for value in published() if value.use == "exact" and value.source_status == "recalled"
    }
    assert recalled == {
        value_id for group in excluded() if group.reason == "recalled" for value_id in group.ids
    }


def test_the_counts_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    """How many values are reproduced and how many are not, so that a change is seen; printed in every run."""
    with capsys.disabled():
        print(f"\n{summary()}")
    assert counts() == {
        "params": {"reproduced": 53, "recalled": 2, "trap": 1},
        "state": {"reproduced": 17, "recalled": 5, "lacks inputs": 1, "convention": 2},
        "zero": {"reproduced": 49, "no exercise computes it": 4},
        "activation": {
            "reproduced": 7,
            "no exercise computes it": 4,
            "belongs to a later assignment": 3,
            "trap": 1,
        },
        "kv": {"reproduced": 10, "lacks inputs": 1, "trap": 1},
        "units": {"no exercise computes it": 7, "trap": 2},
    }


CARDS = {
    "hw.mem.A100-SXM4-80GB": "a100-sxm-80gb",
    "hw.mem.H800-80GB": "h800-sxm",
    "hw.mem.A100-40GB": "a100-sxm-40gb",
    "hw.mem.V100-SXM2-32GB": "v100-sxm-32gb",
}
"""Cards that the kit ships and whose total memory was read in a trace."""


@pytest.mark.parametrize(("value_id", "card"), CARDS.items())
def test_a_card_has_the_bytes_that_were_read_from_it(value_id: str, card: str) -> None:
    """The bytes in gpus.yaml are the published ones, and the published GiB follow from them."""
    value = published_value(value_id)
    assert gpu(card).memory_bytes == value.inputs["bytes"]
    assert value.accepts(gpu(card).memory_bytes / 2**30)


def test_an_h200_shows_a_program_a_little_less_than_the_driver_lists() -> None:
    """nvidia-smi lists 150.75 GB on an H200; a program sees less than that, by under one per cent."""
    listed = published_value("hw.mem.H200").expected * 1e9
    assert 0.99 * listed < gpu("h200-sxm").memory_bytes < listed


if __name__ == "__main__":
    print(summary())
