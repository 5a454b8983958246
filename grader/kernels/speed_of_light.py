"""A lower bound on time: what a GPU's units would need if each ran at its peak and all of them at once.

No launch overhead, no latency, no bank conflict, no instruction beside the counted ones: a kernel takes longer.
The bound comes in two parts that must not be mixed. `shape_floor` needs shapes and the data sheet only, so that
a submission cannot move it: the timing lane calls a time below it tampering. `speed_of_light` adds what meter and
compiler saw beside the student's code, and explains a time; it decides nothing.
"""

import math
from collections.abc import Mapping, Sequence
from typing import get_args

from specs.dtypes import DType
from specs.gpu import Gpu
from specs.schema import SpecError

from .evidence import CallEvidence, CompiledLaunch, Evidence, Launch, TensorTraffic


class Bound(Evidence):
    """The times of one launch's units, seconds; each is a lower bound, and so is the largest."""

    kernel: str
    tensor_s: float
    """Dots at the dense peak of their dtype; fp32 in "ieee" precision on the fp32 lanes. With fewer programs
    than SMs only that share of the peak is there."""
    exp_s: float | None
    """exp2, log2, rsqrt and so on, one each, on the special-function units. A kernel may get below it by computing
    exponentials with multiply-adds instead. None: the GPU's rate is not known."""
    hbm_s: float
    """Compulsory bytes: each byte that the launch touches crosses HBM once. What an earlier launch of the call
    touched may still be in L2 and counts only as far as it exceeds L2."""
    l2_s: float | None
    """Issued bytes, each as often as it was asked for. L1 and TMA multicast can serve some; None: rate not known."""
    compulsory_bytes: int
    issued_bytes: int
    programs: int
    blocks_per_sm: int | None = None
    """From the compile report; None without it."""
    waves: float | None = None
    """Programs over those that fit on the GPU at once: 1.03 means a second, nearly empty wave."""
    tail: float | None = None
    """Share of the block slots that the whole waves leave empty: 0 is best."""

    @property
    def time_s(self) -> float:
        """The largest of the four."""
        return max(self._times().values())

    @property
    def limited_by(self) -> str:
        """Which of the four is the largest: tensor cores, exp, HBM or L2."""
        times = self._times()
        return max(times, key=times.__getitem__)

    def _times(self) -> dict[str, float]:
        every = {"tensor cores": self.tensor_s, "exp": self.exp_s, "HBM": self.hbm_s, "L2": self.l2_s}
        return {name: time for name, time in every.items() if time is not None}


class SpeedOfLight(Evidence):
    """The bounds of a call's launches on one GPU."""

    gpu: str
    launches: tuple[Bound, ...]

    @property
    def time_s(self) -> float:
        """Launches of one stream run one after the other: the sum of their bounds."""
        return sum(bound.time_s for bound in self.launches)


def shape_floor(gpu: Gpu, flops: Mapping[DType, float], compulsory_bytes: float, *, cold: bool) -> float:
    """Seconds below which no honest run can be: from shapes and the data sheet alone.

    Args:
        flops: FLOPs that the result needs by the dtype of the multiplication.
        compulsory_bytes: inputs read once plus outputs written once.
        cold: whether L2 was emptied before the run. If not, as many bytes as L2 holds may come from there.

    Raises:
        SpecError: the GPU has no rate for one of the dtypes.
    """
    in_l2 = 0 if cold else (gpu.l2_bytes or 0)
    compute_s = sum(count / gpu.peak_flops(dtype) for dtype, count in flops.items())
    return max(compute_s, max(0.0, compulsory_bytes - in_l2) / gpu.hbm_bytes_per_s)


def speed_of_light(evidence: CallEvidence, gpu: Gpu, compiled: Sequence[CompiledLaunch] = ()) -> SpeedOfLight:
    """Bound every launch of a call; of an autotuned kernel the first config only.

    Args:
        evidence: what the meter saw.
        compiled: the compile reports of the same call, in the same order; may be empty.

    Raises:
        SpecError: the GPU has no rate for a dtype that a dot used; the message lists those it has.
    """
    first_configs = [launch for launch in evidence.launches if launch.config_index == 0]
    reports = [report for report in compiled if report.config_index == 0]
    if [launch.kernel for launch in first_configs] != [report.kernel for report in reports]:
        reports = []
    touched: dict[str, int] = {}
    bounds = []
    for number, launch in enumerate(first_configs):
        report = reports[number] if reports else None
        bounds.append(_bound(launch, gpu, touched, report))
        for traffic in launch.tensors:
            touched[traffic.tensor] = max(touched.get(traffic.tensor, 0), _unique(traffic))
    return SpeedOfLight(gpu=gpu.name, launches=tuple(bounds))


def _bound(launch: Launch, gpu: Gpu, touched: Mapping[str, int], report: CompiledLaunch | None) -> Bound:
    programs = math.prod(launch.grid)
    share = min(1.0, programs / gpu.sms) if gpu.sms and programs else 1.0
    tensor_s = sum(count / gpu.peak_flops(_rate(dtype, gpu)) for dtype, count in launch.dot_flops.items())
    compulsory = {traffic.tensor: _unique(traffic) for traffic in launch.tensors}
    known = sum(min(size, touched.get(tensor, 0)) for tensor, size in compulsory.items())
    cold_bytes = sum(compulsory.values()) - min(known, gpu.l2_bytes or 0)
    issued = sum(traffic.read_bytes + traffic.written_bytes for traffic in launch.tensors)
    slots = gpu.sms * report.blocks_per_sm if report and gpu.sms else 0
    return Bound(
        kernel=launch.kernel,
        tensor_s=tensor_s / share,
        exp_s=launch.exps / gpu.exps_per_s / share if gpu.exps_per_s else None,
        hbm_s=cold_bytes / gpu.hbm_bytes_per_s,
        l2_s=issued / gpu.l2_bytes_per_s if gpu.l2_bytes_per_s else None,
        compulsory_bytes=sum(compulsory.values()),
        issued_bytes=issued,
        programs=programs,
        blocks_per_sm=report.blocks_per_sm if report else None,
        waves=programs / slots if slots else None,
        tail=1 - programs / (math.ceil(programs / slots) * slots) if slots and programs else None,
    )


def _unique(traffic: TensorTraffic) -> int:
    """Bytes that cross HBM at least once: those read and those written; the meter keeps both apart."""
    return traffic.unique_read_bytes + traffic.unique_written_bytes


def _rate(dtype: str, gpu: Gpu) -> DType:
    """The dtype whose peak a dot runs at: a GPU without tf32 multiplies it on the fp32 lanes."""
    known: dict[str, DType] = {name: name for name in get_args(DType)}
    if dtype not in known:
        raise SpecError(f"no GPU has a rate for dots in {dtype}")
    if dtype == "tf32" and "tf32" not in gpu.dense_tflops:
        return "fp32"
    return known[dtype]
