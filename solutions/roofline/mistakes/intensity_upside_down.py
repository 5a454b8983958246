"""Bytes per FLOP in place of FLOPs per byte."""

import math

from specs import Cost

EXERCISE = "roofline_model"
HINT = "Intensity is arithmetic for each byte, so a big matmul has a large one."
FAILS = ("test_intensity_counts_bytes_read_and_bytes_written", "test_any_intensity")


def arithmetic_intensity(cost: Cost) -> float:
    return (cost.bytes_read + cost.bytes_written) / cost.flops if cost.flops else math.inf
