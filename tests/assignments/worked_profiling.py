"""What the profiling handout works out, recomputed by the reference solutions, for test_handout.py.

`WORKED` is what the paragraphs of a section that begin with `Worked:` print in bold, in their order. `PROSE` is what
else must stand in a section, and `introduction` what the page opens with.
"""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from grader.checks.mistakes import load_solution
from specs import StepBreakdown, TracedModel, gpu

SOLUTIONS = Path(__file__).parents[2] / "solutions"


def _solution(file: str) -> ModuleType:
    return load_solution(SOLUTIONS, "profiling", file)


intervals, breakdown, remedies = (
    _solution("intervals.py"),
    _solution("breakdown.py"),
    _solution("remedies.py"),
)
efficiency, example = _solution("efficiency.py"), _solution("example.py")
CARD = gpu("h100-sxm")
GPT2 = TracedModel(parameters=123_532_032, layers=12, hidden=768, sequence=1024, tokens_per_step=8192)


def _us(seconds: float) -> str:
    return f"{round(1e6 * seconds):,} µs" if seconds > 0.001 else f"{round(1e6 * seconds)} µs"


def _step() -> StepBreakdown:
    step: StepBreakdown = breakdown.step_breakdown(example.one_step())[0]
    return step


def _deepseek() -> list[str]:
    naive = breakdown.step_breakdown(example.deepseek(), {example.DEEPEP: "memory_bound"})[0]
    right = breakdown.step_breakdown(example.deepseek())[0]
    communication_s = right.exposed_communication_s + right.overlapped_communication_s
    return [
        _us(naive.matmul_s + naive.memory_bound_s),
        _us(naive.exposed_communication_s + naive.overlapped_communication_s),
        _us(right.matmul_s),
        _us(communication_s),
        _us(right.exposed_communication_s),
        f"{100 * right.overlapped_communication_s / communication_s:.1f} %",
    ]


def _busy() -> list[str]:
    work = [event for event in example.one_step() if event["cat"] in ("kernel", "gpu_memcpy")]
    busy = intervals.busy_intervals(example.one_step())
    return [
        f"{sum(event['dur'] for event in work)} µs",
        f"{sum(end - start for start, end in busy) // 1000} µs",
        str(len(busy)),
    ]


def _late() -> list[str]:
    late = example.event("kernel", "k", 5150047226786.061, 5150047226786.061)
    late["dur"] = 1.234
    ((start, end),) = intervals.busy_intervals([late])
    through_seconds = round(1e9 * (late["ts"] / 1e6 + late["dur"] / 1e6))
    return [f"{start:,} ns", f"{end:,} ns", f"{through_seconds:,} ns"]


def _parts() -> list[str]:
    step = _step()
    parts = (
        step.matmul_s,
        step.attention_s,
        step.memory_bound_s,
        step.copy_s,
        step.exposed_communication_s,
        step.overlapped_communication_s,
        step.idle_data_s,
        step.idle_host_s,
    )
    return [*(f"{1e6 * part:.0f} µs" for part in parts), f"{1e6 * step.total_s:.0f} µs"]


def _operators() -> list[str]:
    events = [
        example.event("user_annotation", "ProfilerStep#1", 0, 100),
        example.event("cpu_op", "aten::linear", 10, 60),
        example.event("cpu_op", "aten::copy_", 20, 30),
    ]
    (step,) = breakdown.step_breakdown(events)
    return [f"{1e6 * step.matmul_s:.0f} µs", f"{1e6 * step.memory_bound_s:.0f} µs"]


def _remedy() -> list[str]:
    step = _step()
    bare_s = step.exposed_communication_s + step.overlapped_communication_s
    bare = step.model_copy(
        update={
            "duration_s": step.duration_s + step.overlapped_communication_s,
            "exposed_communication_s": bare_s,
            "overlapped_communication_s": 0.0,
        }
    )

    def overlap(of: StepBreakdown) -> str:
        return f"{100 * (of.exposed_communication_s + of.copy_s) / of.duration_s:.0f} %"

    first, second = remedies.remedy(step), remedies.remedy(bare)
    return [
        first.name,
        f"{100 * first.share:.0f} %",
        overlap(step),
        second.name,
        f"{100 * second.share:.0f} %",
        overlap(bare),
    ]


def _mfu() -> list[str]:
    events = [example.event("user_annotation", "ProfilerStep#1", 0, 60_000)]
    share = efficiency.achieved_mfu(events, GPT2, gpu("a100-sxm-80gb"), "bf16")
    step_flops = share * 0.060 * gpu("a100-sxm-80gb").peak_flops("bf16")
    return [
        f"{step_flops / 8192 / 1e6:.0f} MFLOP",
        f"{step_flops / 1e12:.1f} TFLOP",
        f"{100 * share:.1f} %",
    ]


def _kernels() -> list[str]:
    def matmul(rows: int, width: int, dur_us: float) -> object:
        event = example.event("cpu_op", "aten::mm", 0, dur_us)
        dims = [[rows, width], [width, width]]
        event["args"] = {"Input Dims": dims, "Input type": ["c10::BFloat16"] * 2}
        return efficiency.kernel_efficiency(event, CARD)

    square, row = matmul(4096, 4096, 200), matmul(1, 8192, 50)
    return [
        f"{square.flops / 1e9:.0f} GFLOP",  # type: ignore[attr-defined]  # a KernelEfficiency
        f"{1e6 * square.roofline_s:.0f} µs",  # type: ignore[attr-defined]  # as above
        f"{100 * square.efficiency:.0f} %",  # type: ignore[attr-defined]  # as above
        f"{1e6 * row.roofline_s:.1f} µs",  # type: ignore[attr-defined]  # as above
        f"{100 * row.efficiency:.0f} %",  # type: ignore[attr-defined]  # as above
    ]


def introduction() -> list[str]:
    """DeepSeek's profile, by every name of a collective."""
    step = breakdown.step_breakdown(example.deepseek())[0]
    communication_s = step.exposed_communication_s + step.overlapped_communication_s
    return [
        f"{1000 * communication_s:.0f} of its {1000 * step.duration_s:.0f} ms",
        f"{100 * step.overlapped_communication_s / communication_s:.1f} %",
    ]


def _of_the_peak() -> str:
    """What one row against 8192 × 8192 weights reaches in 50 µs."""
    return f"{100 * 2 * 8192**2 / 50e-6 / CARD.peak_flops('bf16'):.1f} % of the peak"


WORKED: dict[int, Callable[[], list[str]]] = {
    1: _deepseek,
    2: lambda: [*_busy(), *_late()],
    3: lambda: [*_parts(), *_operators()],
    4: _remedy,
    5: lambda: [*_mfu(), *_kernels()],
}
PROSE: dict[int, Callable[[], list[str]]] = {
    4: lambda: [f"{1e6 * (_step().duration_s + _step().overlapped_communication_s):.0f} µs"],
    5: lambda: [_of_the_peak()],
}
TOPICS = ("trace",)
"""Topics of published values; those that mislead are asked about at the end."""
