"""A multiplication and an addition are counted as one FLOP."""

from specs import Cost

from ..roofline import arithmetic_intensity as right

EXERCISE = "roofline_model"
HINT = "cost.flops counts multiplications and additions apart already. Nothing is left to halve."
FAILS = ("test_intensity_counts_bytes_read_and_bytes_written", "test_any_intensity")


def arithmetic_intensity(cost: Cost) -> float:
    return right(cost) / 2
