"""The peak of the weights' format, though the arithmetic is in another."""

import math

from specs import DTYPE_BYTES, DType, Gpu

EXERCISE = "critical_batch"
HINT = "Weights stored in 8 bits do not make bf16 arithmetic faster. Whose peak counts?"
FAILS = ("test_a_wide_layer_needs_the_ridge_times_half_the_bytes_of_a_weight",)


def critical_batch(
    gpu: Gpu, compute: DType, weights: DType, inputs: int | None = None, outputs: int | None = None
) -> float:
    # Formats that the card cannot compute in are computed in `compute`.
    peak = gpu.peak_flops(weights if weights in gpu.dense_tflops else compute)
    ridge = peak / gpu.hbm_bytes_per_s
    activations = DTYPE_BYTES[compute] * (1 / inputs + 1 / outputs) if inputs and outputs else 0
    gained = 2 - ridge * activations
    return ridge * DTYPE_BYTES[weights] / gained if gained > 0 else math.inf
