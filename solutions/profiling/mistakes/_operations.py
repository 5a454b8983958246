"""Builds the efficiency of an operation anew from wrong FLOPs, bytes or rates, for the mistakes about it."""

from specs import Event, Gpu, KernelEfficiency

from ..efficiency import RECORDED_DTYPES, kernel_efficiency


def dtype_of(event: Event) -> str:
    """Format of the operation's tensors."""
    return next(RECORDED_DTYPES[kind] for kind in event["args"]["Input type"] if kind in RECORDED_DTYPES)


def shapes_of(event: Event) -> list[tuple[int, ...]]:
    """Shapes of the tensors among the arguments."""
    args = event["args"]
    pairs = zip(args["Input Dims"], args["Input type"], strict=True)
    return [tuple(shape) for shape, kind in pairs if kind in RECORDED_DTYPES]


def is_matmul(event: Event) -> bool:
    """Whether the operation is one of the matmuls."""
    return event["name"] in ("aten::mm", "aten::bmm", "aten::addmm")


def rebuilt(
    event: Event,
    gpu: Gpu,
    flops: float | None = None,
    bytes_moved: float | None = None,
    peak_flops: float | None = None,
) -> KernelEfficiency:
    """The right efficiency but for what is given."""
    right = kernel_efficiency(event, gpu)
    flops = right.flops if flops is None else flops
    moved = right.bytes_moved if bytes_moved is None else bytes_moved
    peak = gpu.peak_flops(dtype_of(event)) if peak_flops is None else peak_flops  # type: ignore[arg-type]
    roofline_s = max(flops / peak, moved / gpu.hbm_bytes_per_s)
    return KernelEfficiency(flops, moved, roofline_s, roofline_s / (event["dur"] / 1e6))
