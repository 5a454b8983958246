"""What an operation writes is not counted as moved."""

import math

from specs import Cost

EXERCISE = "roofline_model"
HINT = "Bytes that are written move over the same bus as bytes that are read."
FAILS = ("test_intensity_counts_bytes_read_and_bytes_written", "test_any_intensity")


def arithmetic_intensity(cost: Cost) -> float:
    return cost.flops / cost.bytes_read if cost.bytes_read else math.inf
