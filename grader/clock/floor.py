"""The time below which no run of a timed shape is believed: from its size and the GPU's data sheet alone."""

from grader.kernels.speed_of_light import shape_floor
from specs.dtypes import DTYPE_BYTES
from specs.gpu import Gpu
from specs.timing import TimedShape


def floor_s(shape: TimedShape, gpu: Gpu) -> float:
    """Seconds that the shape's products take at the dense peak, or its tensors from and to HBM once; the longer.

    Forward reads Q, K, V and writes O and lse (fp32); backward reads these and dO and writes dQ, dK, dV. Backward
    counts four products of attention's two, not five: the scores need not be computed again where they were kept.
    L2 is empty before each call.

    Raises:
        SpecError: the GPU has no rate for the shape's dtype.
    """
    backward = shape.direction == "backward"
    rows = shape.batch * shape.heads * shape.tokens
    query = rows * shape.head_dim * DTYPE_BYTES[shape.dtype]
    keys = query * shape.kv_heads / shape.heads
    moved = (4 * query + 4 * keys if backward else 2 * query + 2 * keys) + rows * DTYPE_BYTES["fp32"]
    flops = shape.flops * 2 / 2.5 if backward else shape.flops
    return shape_floor(gpu, {shape.dtype: flops}, moved, cold=True)
