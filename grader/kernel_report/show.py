"""The one-screen report of a function's kernels: faults, traffic, compiled code, bounds on time."""

import math
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.kernel_report.needed import Needed
from grader.kernel_report.paper import LABEL, Paper
from grader.kernel_report.task import Answer
from grader.kernel_report.words import DTYPES, bytes_text, count_text, kib_text, plural, shape_text, time_text
from grader.kernels.evidence import CompiledLaunch, Finding, Launch
from grader.kernels.speed_of_light import Bound, SpeedOfLight
from grader.printable import printable
from specs.gpu import Gpu

_MOST_LAUNCHES = 4
_MOST_FINDINGS = 4
_MOST_CONFIGS = 3
_MOST_TENSORS = 8
_FAULT = "bold white on red"


def show(
    console: Console,
    title: str,
    ran: Answer,
    built: Answer,
    bound: SpeedOfLight | None,
    floor: Needed | None,
    gpu: Gpu,
    left_out: Sequence[str] = (),
) -> None:
    """Print the report.

    Args:
        title: `flash.py:flash_forward`.
        ran: from the interpreted child.
        built: from the compile-only child.
        bound: None where nothing was launched, or the GPU has no rate for a dtype.
        floor: None where the function gave no tensor back.
        left_out: why parts are missing, one line each.
    """
    paper = Paper(console)
    _head(paper, title, ran)
    _faults(paper, ran, built)
    _launches(paper, ran, built, bound, gpu)
    _torch(paper, ran)
    _whole(paper, bound, floor, gpu)
    for reason in left_out:
        paper.line(reason, "yellow", label="left out", label_style="yellow")
    _end(paper, ran, built)


def faults(ran: Answer) -> tuple[Finding, ...]:
    """Findings of this run, of dtypes tried before and of the second look."""
    again = ran.second_look.evidence.findings if ran.second_look else ()
    return (*ran.evidence.findings, *(finding for _, finding in ran.refused_findings), *again)


def failures(ran: Answer, built: Answer) -> list[str]:
    """What went wrong beside the findings, one line each: errors, and launches that do not compile."""
    told = {finding.message for finding in ran.evidence.findings}
    problems = [ran.problem] if ran.problem and ran.problem not in told else []
    # A file that insists on a GPU does so in both processes, and errors of host code come twice.
    insists = any(finding.kind == "cuda_only" for finding in ran.evidence.findings)
    if built.problem and built.problem != ran.problem and not insists:
        problems.append(f"{built.problem} (while compiling)" if ran.called else built.problem)
    if ran.called and not ran.problem and not ran.evidence.launches and not built.compiled:
        problems.append("it launched no Triton kernel, so there is nothing to report")
    return problems


def _head(paper: Paper, title: str, ran: Answer) -> None:
    tensors = [
        f"{each.name} {shape_text(each.shape)}"
        + ("" if DTYPES.get(each.dtype) == ran.dtype else f" {DTYPES.get(each.dtype, each.dtype)}")
        for each in ran.inputs
    ]
    others = [f"{name}={value}" for name, value in ran.others.items()]
    # Of no meaning where no tensor has it: a function of sizes alone, or of integers.
    dtype = ran.dtype if any(DTYPES.get(each.dtype) == ran.dtype for each in ran.inputs) else ""
    paper.heading(title, "bold", "  ".join([dtype, ", ".join(tensors + others)]).strip())
    if ran.assumed:
        paper.line(f"assumed: {ran.assumed}; change it with --shape, --dtype and --arg", "dim", indent=2)
    # Shapes that were not the function's are no news once others were; a dtype that it does not take is.
    found = {dtype for dtype, _ in ran.refused_findings}
    told = [
        each
        for each in ran.refused
        if ran.problem or (not each.startswith(f"{ran.dtype},") and each.partition(",")[0] not in found)
    ]
    for reason in told[:2]:
        paper.line(f"also tried: {reason}", "dim", indent=2)


def _faults(paper: Paper, ran: Answer, built: Answer) -> None:
    """First of all, since nothing else counts as much."""
    shown = [(finding, "") for finding in ran.evidence.findings]
    shown += [(finding, dtype) for dtype, finding in ran.refused_findings]
    if ran.second_look is not None:
        sizes = ", ".join(f"{each.name} {shape_text(each.shape)}" for each in ran.second_look.inputs)
        shown += [(finding, sizes) for finding in ran.second_look.evidence.findings]
    problems = failures(ran, built)
    if not shown and not problems:
        return
    paper.gap()
    for finding, sizes in shown[:_MOST_FINDINGS]:
        place = (
            f"{Path(finding.place.file).name}:{finding.place.line}" if finding.place.line else finding.kernel
        )
        with_sizes = f", only with {sizes}" if sizes else ""
        _fault(paper, f" {_KINDS[finding.kind]} ", f"{place}{with_sizes}", finding.message)
    if len(shown) > _MOST_FINDINGS:
        paper.line(f"… and {len(shown) - _MOST_FINDINGS} more, see --json", indent=2)
    for problem in problems:
        _fault(paper, " ERROR ", "", problem)
    if any(only for _, only in shown):
        paper.line(
            "if the function is not meant for that, say what it is for: --dtype, --shape, or an assert in the function",
            "dim",
            indent=2,
        )
    elif shown and ran.assumed:
        paper.line("if these inputs are not what the function takes, name them with --shape", "dim", indent=2)


_KINDS = {
    "out_of_bounds_load": "OUT-OF-BOUNDS LOAD",
    "out_of_bounds_store": "OUT-OF-BOUNDS STORE",
    "uninitialised_read": "READ OF UNWRITTEN MEMORY",
    "race": "RACE",
    "unwritten_output": "UNWRITTEN OUTPUT",
    "modified_input": "MODIFIED INPUT",
    "dot_operands": "DOT REFUSED",
    "not_triton": "NOT TRITON",
    "configs_disagree": "CONFIGS DISAGREE",
    "cuda_only": "NEEDS CUDA",
    "unseen_write": "WRITTEN PAST KERNELS AND PYTORCH",
}


def _fault(paper: Paper, kind: str, where: str, message: str) -> None:
    paper.console.print(Text.assemble((kind, _FAULT), (f" {where}" if where else "", "bold")), soft_wrap=True)
    paper.line(message, "bold red", indent=2)


def _launches(paper: Paper, ran: Answer, built: Answer, bound: SpeedOfLight | None, gpu: Gpu) -> None:
    firsts = [launch for launch in ran.evidence.launches if launch.config_index == 0]
    reports = [report for report in built.compiled if report.config_index == 0]
    # Where an error ended the interpreted run, the launches before it still belong to the first reports.
    aligned = [launch.kernel for launch in firsts] == [report.kernel for report in reports[: len(firsts)]]
    kinds: dict[str, list[int]] = {}
    for at, launch in enumerate(firsts):
        kinds.setdefault(launch.model_dump_json(), []).append(at)
    for number, (at, *more) in enumerate(kinds.values()):
        paper.gap()
        if number == _MOST_LAUNCHES:
            paper.line(f"… and {plural(len(kinds) - number, 'more kind')} of launches, see --json")
            break
        stopped = bool(ran.problem) and at + len(more) == len(firsts) - 1
        _launch(paper, firsts[at], 1 + len(more), stopped)
        if aligned and at < len(reports):
            _compiled(paper, reports[at], _configs(built, reports[at]), gpu)
        if bound is not None and at < len(bound.launches) and not stopped:
            _bound(paper, bound.launches[at], gpu)
    for report in reports[len(firsts) if aligned else 0 :][:_MOST_LAUNCHES]:
        paper.gap()
        text = f"compiled only: {_sizes(report.grid)}" if report.grid else "compiled only"
        paper.heading(report.kernel, "bold cyan", f"{text}  {_config(report.config)}")
        _compiled(paper, report, _configs(built, report), gpu)


def _configs(built: Answer, report: CompiledLaunch) -> list[CompiledLaunch]:
    return [each for each in built.compiled if each.kernel == report.kernel and each.config_index > 0]


def _sizes(grid: Sequence[int]) -> str:
    total = math.prod(grid)
    while len(grid) > 1 and grid[-1] == 1:  # the interpreter fills up to three
        grid = grid[:-1]
    return f"{plural(total, 'program')}{f' ({shape_text(grid)})' if len(grid) > 1 else ''}"


def _config(config: dict[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in config.items())


def _launch(paper: Paper, launch: Launch, count: int, stopped: bool) -> None:
    times = f", launched {count} times" if count > 1 else ""
    configs = f", first of {launch.config_count} autotuner configs" if launch.config_count > 1 else ""
    end = ", stopped here and counted up to there" if stopped else ""
    paper.heading(
        launch.kernel, "bold cyan", f"{_sizes(launch.grid)}{times}{configs}{end}  {_config(launch.config)}"
    )
    _traffic(paper, launch)
    work = [f"{count_text(flops)}FLOP of dots in {dtype}" for dtype, flops in launch.dot_flops.items()]
    work += [f"{count_text(launch.exps)}exps (logs, roots and the like included)"] if launch.exps else []
    work += [f"{count_text(launch.atomics)}elements updated atomically"] if launch.atomics else []
    if work:
        paper.line(", ".join(work), indent=2, label="work")


def _traffic(paper: Paper, launch: Launch) -> None:
    rows: list[tuple[str, ...]] = [("tensor", "", "read", "unique", "written", "unique")]
    for traffic in launch.tensors[:_MOST_TENSORS]:
        counts = (
            traffic.read_bytes,
            traffic.unique_read_bytes,
            traffic.written_bytes,
            traffic.unique_written_bytes,
        )
        kind = f"{shape_text(traffic.shape)} {DTYPES.get(traffic.dtype, traffic.dtype)}"
        name = printable(traffic.tensor, 24)
        rows.append((name, kind, *(bytes_text(count) if count else "-" for count in counts)))
    if len(rows) == 1:
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    widths[0] = max(widths[0], LABEL - 2)
    for number, row in enumerate(rows):
        aligned = [
            f"{cell:<{width}}" if column < 2 else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        paper.console.print(
            Text("  " + "  ".join(aligned).rstrip(), style="dim" if not number else ""), soft_wrap=True
        )
    if len(launch.tensors) > _MOST_TENSORS:
        paper.line(f"… and {plural(len(launch.tensors) - _MOST_TENSORS, 'more tensor')}", indent=2)


def _compiled(paper: Paper, report: CompiledLaunch, configs: Sequence[CompiledLaunch], gpu: Gpu) -> None:
    if report.registers:
        limit = f" of {gpu.smem_kib_per_block} KiB" if gpu.smem_kib_per_block else ""
        spills = f"{report.spill_bytes} B a thread spilled" if report.spill_bytes else "no spills"
        full = (
            f"{plural(report.blocks_per_sm, 'block')} on an SM at once, {report.occupancy:.0%} of its threads "
            f"(limit: {report.limited_by})"
        )
        paper.line(
            f"{plural(report.registers, 'register')} a thread, {spills}; {report.threads} threads and "
            f"{kib_text(report.shared_bytes)}{limit} shared memory a block; {full}",
            indent=2,
            label=report.target,
        )
        cores = [
            f"{count} {name}"
            for count, name in (
                (report.hgmma, "HGMMA (tensor cores)"),
                (report.hmma, "HMMA (tensor cores)"),
                (report.ffma, "FFMA (fp32 multiply-add)"),
            )
            if count
        ]
        loads = [
            f"{count} {name}"
            for count, name in ((report.wide_loads, "wide"), (report.narrow_loads, "narrow"))
            if count
        ]
        code = ", ".join(cores) or "no multiply-adds"
        paper.line(f"{code}; global loads: {', '.join(loads) or 'none'}", indent=2, label="code")
    if not report.compiles:
        _not_compiled(paper, report, "")
    for note in report.notes:
        paper.line(note, "yellow", indent=2, label="look at", label_style="yellow")
    broken = [each for each in configs if not each.compiles]
    for each in broken[:_MOST_CONFIGS]:
        _not_compiled(paper, each, f"config {each.config_index + 1} ({_config(each.config)}): ")
    if len(broken) > _MOST_CONFIGS:
        paper.line(f"… and {plural(len(broken) - _MOST_CONFIGS, 'more config')} that cannot run", indent=2)


def _not_compiled(paper: Paper, report: CompiledLaunch, which: str) -> None:
    place = report.error_place
    where = f"{Path(place.file).name}:{place.line} `{place.source}`: " if place.line else ""
    paper.line(
        f"{which}{where}{report.message}", "bold red", indent=2, label=report.target, label_style="bold red"
    )


def _bound(paper: Paper, bound: Bound, gpu: Gpu) -> None:
    times = {"tensor cores": bound.tensor_s, "exp": bound.exp_s, "HBM": bound.hbm_s, "L2": bound.l2_s}
    parts = ", ".join(
        f"{name} {time_text(time)}" for name, time in times.items() if time and time > 0.01 * bound.time_s
    )
    if not parts:
        return
    paper.line(
        f"{time_text(bound.time_s)} at least, by {bound.limited_by}: {parts}{_filled(bound, gpu)}",
        indent=2,
        label="time",
    )


def _filled(bound: Bound, gpu: Gpu) -> str:
    """How well the programs fill the GPU, once the compiler has said how many blocks an SM takes."""
    if bound.waves is None or not gpu.sms or not bound.blocks_per_sm:
        return ""
    if bound.waves < 1:
        busy = min(bound.programs, gpu.sms)
        return f"; {plural(bound.programs, 'program')} for {gpu.sms} SMs, {gpu.sms - busy} of them idle"
    idle = f", {bound.tail:.0%} of the last places empty" if bound.tail else ""
    return f"; {bound.waves:.3g} waves of {gpu.sms * bound.blocks_per_sm} blocks{idle}"


def _torch(paper: Paper, ran: Answer) -> None:
    work = ran.evidence.torch
    if not work.ops or not ran.called:
        return
    ops = [
        f"{name.removeprefix('aten.')}{f' ×{count}' if count > 1 else ''}"
        for name, count in sorted(work.ops.items())
    ]
    more = f" and {len(ops) - 8} more kinds" if len(ops) > 8 else ""
    memory = "no temporary memory"
    if work.peak_temporary_bytes:
        memory = f"temporaries {bytes_text(work.peak_temporary_bytes)} at most"
        if work.largest_temporary_shape:
            largest = bytes_text(work.largest_temporary_bytes)
            memory += f", the largest {shape_text(work.largest_temporary_shape)} ({largest})"
    paper.gap()
    paper.line(f"{', '.join(ops[:8])}{more}; {memory}", label="PyTorch")


def _whole(paper: Paper, bound: SpeedOfLight | None, floor: Needed | None, gpu: Gpu) -> None:
    launches = len(bound.launches) if bound is not None else 0
    if floor is not None:
        work = f" and {count_text(floor.flops)}FLOP of {floor.family} in {floor.dtype}" if floor.flops else ""
        paper.line(
            f"{time_text(floor.time_s)} at least for any kernel, by shapes alone: {bytes_text(floor.bytes)} of inputs "
            f"and outputs moved once{work}",
            label="needed",
        )
    if bound is not None and launches > 1:
        paper.line(
            f"{time_text(bound.time_s)} at least for these {launches} launches, one after the other",
            label="in all",
        )
    if floor is not None or launches:
        paper.line(
            f"times are lower bounds for {gpu.name}: each unit at its peak, L2 cold at first, no launch overhead; "
            "nothing was timed",
            "dim",
            label=" ",
        )


def _end(paper: Paper, ran: Answer, built: Answer) -> None:
    found, problems = faults(ran), failures(ran, built)
    broken = [each for each in built.compiled if not each.compiles and each.config_index == 0]
    parts: list[str] = []
    if found:
        parts.append(plural(len(found), "fault"))
    if problems:
        parts.append(plural(len(problems), "error"))
    if broken:
        parts.append(
            f"{len(broken)} {'launch' if len(broken) == 1 else 'launches'} that cannot run on {broken[0].target}"
        )
    if parts:
        paper.line(f"{', '.join(parts)}, see above", "bold red", label="result", label_style="bold red")
        return
    paper.line(
        f"no fault found{_again(ran)}; whether the values are right was not asked",
        "green",
        label="result",
        label_style="green",
    )


def _again(ran: Answer) -> str:
    look = ran.second_look
    if look is None:
        return ""
    sizes = ", ".join(f"{each.name} {shape_text(each.shape)}" for each in look.inputs)
    if look.problem:
        return f"; sizes that no tile divides are refused ({sizes}: {look.problem})"
    return f", nor with sizes that no tile divides: {sizes}"
