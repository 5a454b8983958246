"""The one-screen report of a function's kernels: what was called, traffic, findings, compiled code, bound on time."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.kernel_report.child import Answer
from grader.kernels.evidence import CallEvidence, CompiledLaunch, Finding, Launch
from grader.kernels.speed_of_light import Bound, SpeedOfLight
from specs.gpu import Gpu

_MOST_LAUNCHES = 6
_MOST_FINDINGS = 8
_MOST_CONFIGS = 4
_SHORT = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "float64": "fp64"}


def show(
    console: Console, title: str, ran: Answer, built: Answer, bound: SpeedOfLight | None, gpu: Gpu
) -> None:
    """Print the report.

    Args:
        title: `flash.py:flash_forward`.
        ran: from the interpreted child.
        built: from the compile-only child.
        bound: None where nothing was launched, or the GPU has no rate for a dtype.
    """
    _head(console, title, ran)
    reports = [each for each in built.compiled if each.config_index == 0]
    firsts = [launch for launch in ran.evidence.launches if launch.config_index == 0]
    for number, (launch, count) in enumerate(_runs(firsts)):
        if number == _MOST_LAUNCHES:
            console.print(f"… and {len(list(_runs(firsts))) - _MOST_LAUNCHES} more kinds of launches")
            break
        at = firsts.index(launch)
        same = len(reports) == len(firsts)
        _launch(console, launch, count)
        if same:
            _compiled(console, reports[at], [c for c in built.compiled if c.kernel == launch.kernel], gpu)
        if bound is not None and at < len(bound.launches):
            _bound(console, bound.launches[at])
    if len(reports) != len(firsts):  # the interpreter stopped, or the host code went another way
        for report in reports[:_MOST_LAUNCHES]:
            console.print(Text.assemble(("Compiled ", "bold"), (report.kernel, "bold cyan")))
            _compiled(console, report, [c for c in built.compiled if c.kernel == report.kernel], gpu)
    if not firsts and not reports:
        console.print("It launched no Triton kernel.")
    _torch(console, ran.evidence)
    _findings(console, ran.evidence.findings)
    if bound is not None and len(bound.launches) > 1:
        console.print(f"Lower bound of all launches: {time_text(bound.time_s)} on {gpu.name}")
    for problem, which in ((ran.problem, "interpreted"), (built.problem, "compiled")):
        if problem and problem not in {finding.message for finding in ran.evidence.findings}:
            console.print(Text(f"{which}: {problem}", style="red"))


def _head(console: Console, title: str, ran: Answer) -> None:
    inputs = [f"{name} {shape_text(shape)}" for name, shape in ran.shapes.items()]
    inputs += [f"{name}={value}" for name, value in ran.others.items()]
    line = Text.assemble((title, "bold"), f"  {ran.dtype}  ", ", ".join(inputs))
    console.print(line)
    notes = [f"assumed: {ran.assumed}; say --shape to change it"] if ran.assumed else []
    notes += [f"tried before: {reason}" for reason in ran.refused[:2]]
    for note in notes:
        console.print(Text(note, style="dim"))


def _runs(launches: Sequence[Launch]) -> Iterable[tuple[Launch, int]]:
    """Launches that are alike, once each with their number."""
    seen: Counter[str] = Counter()
    first: dict[str, Launch] = {}
    for launch in launches:
        key = launch.model_dump_json()
        seen[key] += 1
        first.setdefault(key, launch)
    return [(first[key], count) for key, count in seen.items()]


def _launch(console: Console, launch: Launch, count: int) -> None:
    config = ", ".join(f"{name}={value}" for name, value in launch.config.items())
    grid = "×".join(str(size) for size in launch.grid if size != 1) or "1"
    total = f" = {math.prod(launch.grid):,}" if "×" in grid else ""
    times = f" {count} times" if count > 1 else ""
    configs = f", the first of {launch.config_count} configs" if launch.config_count > 1 else ""
    console.print(
        Text.assemble(
            ("Launch ", "bold"),
            (launch.kernel, "bold cyan"),
            f"  {grid} programs{total}{times}  {config}{configs}",
        )
    )
    table = Table(box=None, padding=(0, 2, 0, 2), header_style="dim")
    table.add_column("tensor", no_wrap=True)
    table.add_column("shape", no_wrap=True)
    for name in ("read", "unique", "written", "unique"):
        table.add_column(name, justify="right", no_wrap=True)
    for traffic in launch.tensors:
        table.add_row(
            traffic.tensor,
            f"{shape_text(traffic.shape)} {_SHORT.get(traffic.dtype, traffic.dtype)}",
            *(
                bytes_text(count) if count else "-"
                for count in (
                    traffic.read_bytes,
                    traffic.unique_read_bytes,
                    traffic.written_bytes,
                    traffic.unique_written_bytes,
                )
            ),
        )
    console.print(table)
    work = [f"{count_text(flops)}FLOP of dots in {dtype}" for dtype, flops in launch.dot_flops.items()]
    work += [f"{count_text(launch.exps)}exps and the like"] if launch.exps else []
    work += [f"{launch.atomics:,} atomics"] if launch.atomics else []
    if work:
        console.print("  " + ", ".join(work))


def _compiled(console: Console, report: CompiledLaunch, configs: Sequence[CompiledLaunch], gpu: Gpu) -> None:
    if not report.compiles:
        console.print(Text(f"  {report.target}: {report.message}", style="red"))
    if report.registers:
        limit = f" of {gpu.smem_kib_per_block} KiB" if gpu.smem_kib_per_block else ""
        spills = f"{report.spill_bytes} B spilled" if report.spill_bytes else "no spills"
        cores = [
            f"{count} {name}"
            for count, name in ((report.hgmma, "HGMMA"), (report.hmma, "HMMA"), (report.ffma, "FFMA"))
            if count
        ]
        console.print(
            f"  {report.target}: {report.registers} registers, {spills}, shared {_kib(report.shared_bytes)}"
            f"{limit}, {report.threads} threads; {report.blocks_per_sm} blocks an SM, occupancy "
            f"{report.occupancy:.0%}, limited by {report.limited_by}"
        )
        console.print(
            f"  machine code: {', '.join(cores) or 'no multiply-adds'}; global loads: {report.wide_loads} wide, "
            f"{report.narrow_loads} narrow"
        )
    for note in report.notes:
        console.print(Text(f"  note: {note}", style="yellow"))
    broken = [each for each in configs if not each.compiles and each.config_index > 0]
    for each in broken[:_MOST_CONFIGS]:
        config = ", ".join(f"{name}={value}" for name, value in each.config.items())
        console.print(
            Text(f"  config {each.config_index} cannot run ({config}): {each.message}", style="red")
        )
    if len(broken) > _MOST_CONFIGS:
        console.print(f"  … and {len(broken) - _MOST_CONFIGS} more configs that cannot run")


def _bound(console: Console, bound: Bound) -> None:
    parts = [
        ("tensor cores", bound.tensor_s),
        ("exp", bound.exp_s),
        ("HBM", bound.hbm_s),
        ("L2", bound.l2_s),
    ]
    times = ", ".join(f"{name} {time_text(time)}" for name, time in parts if time)
    waves = (
        f"; {bound.waves:.2f} waves, {bound.tail:.0%} of the slots idle" if bound.waves and bound.tail else ""
    )
    console.print(
        Text.assemble(
            "  at least ",
            (time_text(bound.time_s), "bold"),
            f" (speed of light, {bound.limited_by}): {times or 'nothing to do'}{waves}",
        )
    )


def _torch(console: Console, evidence: CallEvidence) -> None:
    work = evidence.torch
    ops = ", ".join(f"{name.removeprefix('aten.')} {count}" for name, count in sorted(work.ops.items())[:8])
    more = f", {len(work.ops) - 8} more kinds" if len(work.ops) > 8 else ""
    largest = (
        f", the largest {bytes_text(work.largest_temporary_bytes)} {shape_text(work.largest_temporary_shape)}"
        if work.largest_temporary_bytes
        else ""
    )
    console.print(
        f"PyTorch: {ops or 'no ops'}{more}; temporaries {bytes_text(work.peak_temporary_bytes)}{largest}"
    )


def _findings(console: Console, findings: Sequence[Finding]) -> None:
    if not findings:
        console.print(Text("Sanitizer: nothing found", style="green"))
    for finding in findings[:_MOST_FINDINGS]:
        where = f"{Path(finding.place.file).name}:{finding.place.line}: " if finding.place.line else ""
        console.print(Text(f"Sanitizer: {where}{finding.message}", style="bold red"))
    if len(findings) > _MOST_FINDINGS:
        console.print(f"… and {len(findings) - _MOST_FINDINGS} more findings")


def shape_text(shape: Sequence[int]) -> str:
    """(2, 256, 64) as 2×256×64."""
    return "×".join(map(str, shape)) or "scalar"


def bytes_text(count: int) -> str:
    """Bytes to three digits, decimal units."""
    return f"{count} B" if count < 1000 else f"{count_text(count)}B"


def _kib(count: int) -> str:
    """Shared memory, which everybody counts in KiB."""
    return f"{count} B" if count < 1024 else f"{count / 1024:.4g} KiB"


def count_text(count: float) -> str:
    """1234567 as "1.23 M" (a unit may follow)."""
    for size, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g} {prefix}" if count / size < 999.5 else f"{count / size:.0f} {prefix}"
    return f"{count:g} "


def time_text(seconds: float) -> str:
    """Seconds to three digits with the unit that fits."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
