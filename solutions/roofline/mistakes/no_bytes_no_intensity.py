"""An operation that moves no byte has intensity 0."""

from specs import Cost

from ..roofline import arithmetic_intensity as right

EXERCISE = "roofline_model"
HINT = "An operation that moves nothing never waits for memory. On which side of the ridge does 0 put it?"
FAILS = ("test_a_copy_has_intensity_0_and_what_moves_nothing_has_no_limit", "test_any_intensity")


def arithmetic_intensity(cost: Cost) -> float:
    return right(cost) if cost.bytes_read + cost.bytes_written else 0.0
