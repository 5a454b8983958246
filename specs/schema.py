"""The frozen model that every spec is, and the YAML reader that says which file and field is wrong.

A broken YAML file is one line for its author: the file, the field, what was found, what was expected.
"""

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError


class SpecError(ValueError):
    """A spec file or a name in it is wrong; the message names the file, the field and the remedy."""


class Spec(BaseModel):
    """Immutable, hashable where its fields are, and strict about field names: a typo is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


SpecType = TypeVar("SpecType")

_yaml_loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> Any:
    """Return the plain data of one YAML file.

    Raises:
        SpecError: the file is missing, is not UTF-8 or is not YAML; the line number is given where known.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: cannot be read as UTF-8 text ({error})") from None
    try:
        return yaml.load(text, Loader=_yaml_loader)  # noqa: S506 - CSafeLoader where built, SafeLoader otherwise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise SpecError(f"{path}{where}: not valid YAML ({problem})") from None


def validate(schema: type[SpecType] | Any, data: Any, where: Path | str) -> Any:
    """Return `data` as `schema`, a pydantic model or any type annotation.

    Raises:
        SpecError: one line with the file, the first wrong field, what was expected and what was found.
    """
    try:
        return TypeAdapter(schema).validate_python(data)
    except ValidationError as error:
        raise SpecError(f"{where}: {first_problem(error)}") from None


def first_problem(error: ValidationError) -> str:
    """The first field problem of a validation error, in one line: `layers: input should be greater than 0, got -1`."""
    problems = error.errors(include_url=False)
    first = problems[0]
    field = ".".join(str(part) for part in first["loc"]) or "the whole document"
    found = repr(first.get("input"))
    found = found if len(found) <= 60 else found[:57] + "..."
    message = str(first["msg"])
    message = message.removeprefix("Value error, ")
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    if first["type"] == "missing":
        return f"{field}: field required and not given{more}"
    if first["type"] == "extra_forbidden":
        return f"{field}: no such field{more}"
    return f"{field}: {message[:1].lower()}{message[1:]}, got {found}{more}"
