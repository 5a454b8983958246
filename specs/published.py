"""Values that the field has published: what each is, what it was computed from, where it is printed.

The data is `specs/published/<topic>.yaml`. It belongs to the judge: the folder is absent where a student's
code runs, so nothing is read before one of the functions is called.
"""

from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from specs.model import unknown_name
from specs.schema import Spec, SpecError, read_yaml, validate

PUBLISHED_FOLDER = Path(__file__).parent / "published"

Topic = Literal[
    "params",
    "state",
    "zero",
    "activation",
    "kv",
    "units",
    "roofline",
    "mfu",
    "flops",
    "flash_attention",
    "comm",
    "parallel",
    "trace",
]


class Tolerance(Spec):
    """How far from the printed value a right answer may lie: `abs` in its unit, or `rel` as a share of it."""

    abs: Annotated[float, Field(ge=0)] | None = None
    rel: Annotated[float, Field(gt=0, lt=1)] | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.abs is None) == (self.rel is None):
            raise ValueError("give abs or rel, and only one of them")
        return self


class PublishedValue(Spec):
    """One published number."""

    id: str
    topic: Topic
    quantity: str = Field(description="what the number is")
    inputs: dict[str, int | float | bool | str] = Field(
        default_factory=dict, description="what it is computed from, in the letters of its formula"
    )
    formula: str = ""
    expected: int | float = Field(description="the value as printed")
    unit: str
    tolerance: Tolerance
    recomputed: int | float = Field(description="what the formula gives")
    source: str = Field(min_length=1, description="where it is printed")
    source_status: Literal["read", "quoted", "derived", "recalled"] = Field(
        description="read: seen there; quoted: seen in a copy; derived: from public data; recalled: not seen"
    )
    use: Literal["exact", "anchor", "trap", "convention", "formula", "inferred"] = Field(
        description="exact: a right formula gives it; trap: printed, but wrong or misleading; else see note"
    )
    note: str = ""

    def __hash__(self) -> int:
        # `inputs` is a dict and has no hash; ids are unique.
        return hash(self.id)

    def accepts(self, value: int | float) -> bool:
        """Whether `value`, in `unit`, is the published one within its tolerance."""
        allowed = (
            self.tolerance.abs if self.tolerance.rel is None else self.tolerance.rel * abs(self.expected)
        )
        return abs(value - self.expected) <= (allowed or 0)


def load_published(path: Path) -> tuple[PublishedValue, ...]:
    """Return the values of one YAML file, `<topic>.yaml`.

    Raises:
        SpecError: the file cannot be read, a field or the topic is wrong, or an id is there twice.
    """
    values: tuple[PublishedValue, ...] = validate(tuple[PublishedValue, ...], read_yaml(path), path)
    seen: set[str] = set()
    for value in values:
        if value.topic != path.stem:
            raise SpecError(f"{path}: {value.id}: topic is {value.topic!r}, expected {path.stem!r}")
        if value.id in seen:
            raise SpecError(f"{path}: {value.id}: this id is there twice")
        seen.add(value.id)
    return values


@cache
def published(topic: Topic | None = None) -> tuple[PublishedValue, ...]:
    """All published values, or those of one topic, in the order of the files.

    Raises:
        SpecError: there is no such topic, or the published values are not on this machine.
    """
    if topic is None:
        return tuple(value for each in _topics() for value in published(each))
    if topic not in _topics():
        raise SpecError(unknown_name("topic", topic, _topics()))
    return load_published(PUBLISHED_FOLDER / f"{topic}.yaml")


def published_value(value_id: str) -> PublishedValue:
    """Return one published value.

    Raises:
        SpecError: there is no such id; the message lists those that come close.
    """
    for value in published():
        if value.id == value_id:
            return value
    raise SpecError(unknown_name("published value", value_id, [value.id for value in published()]))


def _topics() -> tuple[Topic, ...]:
    if not PUBLISHED_FOLDER.is_dir():
        raise SpecError(
            f"{PUBLISHED_FOLDER}: no such folder; published values are kept by the instructor only"
        )
    return get_args(Topic)
