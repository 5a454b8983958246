"""Checks of functions that read a trace: small events by hand, and breakdowns compared to the nanosecond.

An event's times are given in nanoseconds and written in microseconds, as a trace has them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from grader.checks.expect import Expect
from specs import Event, KernelClass, Spec

KERNELS: dict[KernelClass, str] = {
    "matmul": "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
    "attention": "flash_fwd_kernel",
    "memory_bound": "vectorized_elementwise_kernel",
    "communication": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
    "copy": "Memcpy HtoD (Pinned -> Device)",
}
"""One name of each class, so plain that no classification misses it."""
KINDS: dict[str, KernelClass] = {name: kind for kind, name in KERNELS.items()}
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
PARTS = (
    "duration_s",
    "matmul_s",
    "attention_s",
    "memory_bound_s",
    "copy_s",
    "exposed_communication_s",
    "overlapped_communication_s",
    "idle_data_s",
    "idle_host_s",
)


def event(
    cat: str, name: str, start_ns: int, end_ns: int, *, pid: int = 0, tid: int = 7, **args: Any
) -> Event:
    """A complete event."""
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": start_ns / 1000,
        "dur": (end_ns - start_ns) / 1000,
        "args": args,
    }


def kernel(kind: KernelClass, start_ns: int, end_ns: int, stream: int = 7) -> Event:
    """Work of a class on a stream of the device."""
    cat = "gpu_memcpy" if kind == "copy" else "kernel"
    return event(cat, KERNELS[kind], start_ns, end_ns, tid=stream, stream=stream)


def step(number: int, start_ns: int, end_ns: int) -> Event:
    """The annotation of one profiler step."""
    return event("user_annotation", f"ProfilerStep#{number}", start_ns, end_ns, pid=1, tid=1)


def twin(number: int, start_ns: int, end_ns: int) -> Event:
    """Its shadow on the device, which is no step and no work."""
    return event("gpu_user_annotation", f"ProfilerStep#{number}", start_ns, end_ns)


def loader(start_ns: int, end_ns: int) -> Event:
    """The CPU waits for a batch."""
    return event("user_annotation", LOADER, start_ns, end_ns, pid=1, tid=1)


def operator(name: str, start_ns: int, end_ns: int, thread: int = 1) -> Event:
    """An operator on a thread of the CPU."""
    return event("cpu_op", name, start_ns, end_ns, pid=1, tid=thread)


def intervals(expect: Expect, got: Any, wanted: Sequence[tuple[int, int]], case: str) -> None:
    """A list of (start, end) pairs is the right one."""
    __tracebackhide__ = True
    expect.that(
        isinstance(got, list | tuple),
        f"{case}: a list of (start, end) pairs is needed, and it returned {expect.kind(got)}",
    )
    pairs = [tuple(each) if isinstance(each, list | tuple) else each for each in got]
    expect.that(
        all(isinstance(each, tuple) and len(each) == 2 for each in pairs),
        f"{case}: each interval is a pair, (start, end)",
    )
    expect.number(len(pairs), len(wanted), case=f"{case}: number of intervals")
    for index, (pair, right) in enumerate(zip(pairs, wanted, strict=True)):
        for edge, value, expected in zip(("start", "end"), pair, right, strict=True):
            expect.number(value, expected, case=f"{case}: {edge} of interval {index + 1}")


def breakdowns(expect: Expect, got: Any, wanted: Sequence[Mapping[str, int]], case: str) -> None:
    """There is a breakdown for each step, and every part is right to the nanosecond.

    Args:
        got: what `step_breakdown` returned, seconds.
        wanted: by step, `step` and nanoseconds of the parts; those left out are 0.
        case: what was asked, in words that a student knows.
    """
    __tracebackhide__ = True
    expect.that(
        isinstance(got, list | tuple),
        f"{case}: a list of StepBreakdown is needed, and it returned {expect.kind(got)}",
    )
    expect.number(len(got), len(wanted), case=f"{case}: number of steps")
    for one, right in zip(got, wanted, strict=True):
        given = (
            {name: getattr(one, name) for name in type(one).model_fields} if isinstance(one, Spec) else one
        )
        if not isinstance(given, dict):
            expect.terms(given, dict.fromkeys(("step", *PARTS), 0), case=case)
        in_ns = {name: _in_ns(value) if name in PARTS else value for name, value in given.items()}
        who = f"{case}: step {right['step']}"
        expect.terms(in_ns, {"step": right["step"]}, case=who)
        expect.terms(in_ns, {name: right.get(name, 0) for name in PARTS}, unit="ns", case=who)


def _in_ns(seconds: Any) -> Any:
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        return seconds  # refused where it is compared, with its name
    try:
        return round(1e9 * seconds)
    except (OverflowError, ValueError):  # infinite, or no number
        return seconds
