"""What an exercise returns: built by name or by place, and refused in one line when it does not fit."""

from typing import Any

from pydantic import ValidationError

from specs.schema import Spec, SpecError, first_problem


class Answer(Spec):
    """A result that a student's function builds: `ModelShape(33, 4224)` or `ModelShape(layers=33, hidden=4224)`."""

    def __init__(self, /, *values: Any, **named: Any) -> None:
        """Take values in the order of the fields, by name, or both.

        Raises:
            SpecError: one line that names the type and the field that is unknown, missing, doubled or wrong.
        """
        __tracebackhide__ = True  # pytest then shows the line of the caller
        kind, fields = type(self).__name__, list(type(self).model_fields)
        listed = ", ".join(fields)
        if len(values) > len(fields):
            raise SpecError(f"{kind} takes {len(fields)} values ({listed}), not {len(values)}")
        placed = dict(zip(fields, values, strict=False))
        doubled = [name for name in placed if name in named]
        if doubled:
            raise SpecError(f"{kind}: {doubled[0]} is given twice, by place and by name")
        try:
            super().__init__(**placed, **named)
        except ValidationError as error:
            raise SpecError(" ".join(_problem(kind, listed, error).split())) from None

    # pydantic's own mark of an initializer that validation need not go through: `model_validate`, which reads
    # what came over the wire, keeps its own errors and takes no values by place.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # read by pydantic


def _problem(kind: str, listed: str, error: ValidationError) -> str:
    """The problem that says most: a name that is no field explains the field that is then missing."""
    problems = error.errors(include_url=False, include_context=False)
    for problem in problems:
        if problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1:
            return f"{kind} has no field `{problem['loc'][0]}`; its fields are {listed}"
    missing = [
        str(each["loc"][0]) for each in problems if each["type"] == "missing" and len(each["loc"]) == 1
    ]
    if missing:
        return (
            f"{kind}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; "
            f"its fields are {listed}"
        )
    first = problems[0]
    if first["type"] == "value_error":  # our own words, which say what was found
        return f"{kind}: {'.'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}"
    return f"{kind}: {first_problem(error)}"
