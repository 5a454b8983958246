"""The time below which no run of a timed shape is believed: from its size and the GPU's data sheet alone."""

from grader.kernels.speed_of_light import shape_floor
from specs.dtypes import DTYPE_BYTES
from specs.gpu import Gpu
from specs.timing import TimedShape


def floor_s(shape: TimedShape, gpu: Gpu) -> float:
    """Seconds that the shape's products take at the dense peak, or its tensors from and to HBM once; the longer.

    Backward counts four products of attention's two, not five: the scores need not be computed again where they were
    kept. L2 is empty before each call.

    Raises:
        SpecError: the GPU has no rate for the shape's dtype.
    """
    flops = shape.flops * 2 / 2.5 if shape.direction == "backward" else shape.flops
    return shape_floor(gpu, {shape.dtype: flops}, compulsory_bytes(shape), cold=True)


def compulsory_bytes(shape: TimedShape) -> float:
    """What a call must move: forward reads Q, K, V and writes O and lse (fp32); backward reads these and dO and
    writes dQ, dK, dV."""
    rows = shape.batch * shape.heads * shape.tokens
    query = rows * shape.head_dim * DTYPE_BYTES[shape.dtype]
    keys = query * shape.kv_heads / shape.heads
    tensors = 4 * query + 4 * keys if shape.direction == "backward" else 2 * query + 2 * keys
    return tensors + rows * DTYPE_BYTES["fp32"]


def bounds_s(shape: TimedShape, gpu: Gpu) -> dict[str, float]:
    """What each unit needs of a flash kernel at its peak, seconds, by its name: the longest bounds the kernel.

    Here backward counts its five products. Kernels that compute some exponentials with multiply-adds can get below
    `exp`, which is left out where the card's rate is not known.

    Raises:
        SpecError: the GPU has no rate for the shape's dtype.
    """
    pairs = shape.batch * shape.heads * shape.tokens**2 / (2 if shape.causal else 1)
    found = {
        "tensor cores": shape.flops / gpu.peak_flops(shape.dtype),
        "HBM": compulsory_bytes(shape) / gpu.hbm_bytes_per_s,
    }
    if gpu.exps_per_s:
        found["exp"] = pairs / gpu.exps_per_s
    return found
