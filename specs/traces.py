"""Writes small traces of the PyTorch profiler whose truth is known, to the nanosecond.

A step is laid out as `Piece`s, one after the other: so many nanoseconds of matmuls, of communication, of waiting.
Each is then filled with events that make it so: kernels back to back, nested and staggered over streams, loader
waits, launches. The truth is the sum of the pieces; no interval of an event is ever looked at again.

What a step's time is, at each instant inside its `ProfilerStep#N`:

1. the class of what runs on the device; where several do, the first of matmul, attention, memory_bound, copy;
2. `exposed_communication` where nothing but collectives run; a collective under 1. is `overlapped_communication`,
   which runs beside the sum and is no part of it;
3. `idle_data` where nothing runs while the loader's `__next__` does, else `idle_host`.

The format is that of `torch.profiler.profile.export_chrome_trace` (PyTorch 2.13, Kineto): times in microseconds,
`ts` since `baseTimeNanoseconds`. The same arguments give the same trace.
"""

import gzip
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from specs.trace_names import Device
from specs.trace_writer import WORKS, Kind, Options, TraceWriter

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
LOADER_WITH_WORKERS = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
START_NS = 5_150_047_226_786_061
"""Two months after the base, as a trace really has it: a double then has 0.001 µs and no more to spare."""
GAP_NS = 2_500
"""Between two steps, where time belongs to none."""


@dataclass(frozen=True)
class Piece:
    """A stretch of a step in which time is of one kind."""

    kind: Kind
    ns: int
    """How long it is, in nanoseconds."""
    beside_ns: int = 0
    """Collectives that run under the end of it, in nanoseconds; on matmul, attention, memory_bound and copy only."""

    def __post_init__(self) -> None:
        works = self.kind in WORKS
        if self.ns <= 0 or not 0 <= self.beside_ns <= (self.ns if works else 0):
            raise ValueError(f"{self}: needs a length above 0, and collectives beside work, within it")


@dataclass(frozen=True)
class StepTruth:
    """What one step's breakdown is, in nanoseconds."""

    step: int
    """N of `ProfilerStep#N`."""
    duration_ns: int
    matmul_ns: int = 0
    attention_ns: int = 0
    memory_bound_ns: int = 0
    copy_ns: int = 0
    exposed_communication_ns: int = 0
    overlapped_communication_ns: int = 0
    """Beside the sum, no part of it."""
    idle_data_ns: int = 0
    idle_host_ns: int = 0

    def seconds(self) -> dict[str, float]:
        """The same in seconds, under the names of a breakdown: `duration_s`, `matmul_s` and so on."""
        return {
            each.name.removesuffix("_ns") + "_s": getattr(self, each.name) / 1e9
            for each in fields(self)
            if each.name != "step"
        }


_SHARES: dict[Kind, dict[Kind, int]] = {
    # of a step's pieces, in percent, by what the step spends most of its time on
    "matmul": {"matmul": 74, "attention": 10, "memory_bound": 10, "copy": 2, "idle_host": 4},
    "attention": {"matmul": 25, "attention": 60, "memory_bound": 10, "copy": 2, "idle_host": 3},
    "memory_bound": {"matmul": 25, "attention": 5, "memory_bound": 62, "copy": 2, "idle_host": 6},
    "copy": {"matmul": 25, "memory_bound": 10, "copy": 60, "idle_host": 5},
    "exposed_communication": {
        "matmul": 27,
        "attention": 4,
        "memory_bound": 9,
        "exposed_communication": 56,
        "idle_host": 4,
    },
    "idle_data": {
        "matmul": 30,
        "attention": 5,
        "memory_bound": 8,
        "copy": 3,
        "idle_data": 50,
        "idle_host": 4,
    },
    "idle_host": {"matmul": 20, "attention": 5, "memory_bound": 15, "idle_host": 60},
}


def draw_pieces(seed: int, mostly: Kind = "matmul", step_ns: int = 8_000_000, ranks: int = 1) -> list[Piece]:
    """A step of about `step_ns` that spends most of its time on `mostly`, in pieces of drawn length and order.

    With several `ranks`, some collectives run beside the work, also where none is exposed. The loader comes first, as
    in a training loop; the rest is dealt out in four rounds, as layers would.
    """
    rng = random.Random(seed)  # noqa: S311  # draws test data, guards nothing
    shares = dict(_SHARES[mostly])
    pieces = []
    if "idle_data" in shares:
        pieces.append(Piece("idle_data", _about(rng, step_ns * shares.pop("idle_data") // 100)))
    rounds = 24 if mostly == "idle_host" else 4
    for _ in range(rounds):
        for kind, share in shares.items():
            ns = _about(rng, step_ns * share // 100 // rounds)
            some = ranks > 1 or "exposed_communication" in shares
            beside = rng.randrange(ns) if some and kind in ("matmul", "attention") else 0
            pieces.append(Piece(kind, ns, beside))
    return pieces


def _about(rng: random.Random, ns: int) -> int:
    return max(1, round(ns * rng.uniform(0.7, 1.3)))


def make_trace(
    seed: int = 0,
    *,
    steps: int = 3,
    mostly: Kind = "matmul",
    pieces: Sequence[Sequence[Piece]] | None = None,
    step_ns: int = 8_000_000,
    device: Device = "cuda",
    rank: int = 0,
    ranks: int = 1,
    streams: int = 3,
    nested: bool = True,
    straddling: bool = True,
    whole_microseconds: bool = False,
    loader: str = LOADER,
    shapes: bool = True,
    first_step: int = 10,
    shuffled: bool = True,
) -> tuple[dict[str, Any], list[StepTruth]]:
    """A trace, and what each of its steps is.

    Args:
        seed: of every draw.
        steps: how many; without `pieces`, which give one step each.
        mostly: what drawn steps spend most of their time on.
        pieces: the steps, exactly; else they are drawn with `draw_pieces`.
        step_ns: about the length of a drawn step, in nanoseconds.
        device: `rocm` has AMD's names; `cpu` has operators alone, and neither copies nor communication.
        rank, ranks: with more than one rank the trace says so in `distributedInfo`.
        streams: on which work runs: 1 puts collectives and work on one stream and nests nothing.
        nested: kernels inside and across one another, on other streams; else they only touch.
        straddling: where a step ends and the next begins with one kind of work, a kernel lies across the border.
        whole_microseconds: every time is a whole number of them, as Kineto wrote until PyTorch 2.2.
        loader: how the loader's wait is called.
        shapes: operators have their Input Dims.
        first_step: N of the first `ProfilerStep#N`.
        shuffled: events are in no order; else by start.

    Raises:
        ValueError: the CPU is to copy or communicate, or a piece is impossible.
    """
    if pieces is None:
        drawn = [draw_pieces(seed * 1000 + index, mostly, step_ns, ranks) for index in range(steps)]
        pieces = [[each for each in step if _possible(each, device)] for step in drawn]
        if device == "cpu" or streams == 1:
            pieces = [[replace(each, beside_ns=0) for each in step] for step in pieces]
    if whole_microseconds:
        pieces = [
            [Piece(each.kind, -(-each.ns // 1000) * 1000, each.beside_ns // 1000 * 1000) for each in step]
            for step in pieces
        ]
    everything = [each for step in pieces for each in step]
    if any(not _possible(each, device) or (device == "cpu" and each.beside_ns) for each in everything):
        raise ValueError("a trace of the CPU has neither copies nor communication")
    if streams == 1 and any(each.beside_ns for each in everything):
        raise ValueError("on one stream no collective runs beside the work")
    grain = 1000 if whole_microseconds else 1
    writer = TraceWriter(Options(device, rank, ranks, streams, nested, shapes, grain, loader), seed)
    truths = []
    clock = START_NS // grain * grain
    for index, step in enumerate(pieces):
        begin = clock
        for place, piece in enumerate(step):
            before = step[place - 1].ns if place and step[place - 1].kind in WORKS else 0
            writer.piece(piece.kind, clock, piece.ns, piece.beside_ns, before)
            clock += piece.ns
        number = first_step + index
        writer.step(number, begin, clock)
        truths.append(_truth(number, step))
        across = straddling and index + 1 < len(pieces) and step[-1].kind == pieces[index + 1][0].kind
        if across:
            writer.join(clock)
        else:
            clock += GAP_NS // grain * grain
    writer.outside(START_NS // grain * grain, clock)
    return writer.trace(shuffled), truths


def _possible(piece: Piece, device: Device) -> bool:
    return device != "cpu" or piece.kind not in ("copy", "exposed_communication")


def _truth(step: int, pieces: Sequence[Piece]) -> StepTruth:
    sums = {f"{each.kind}_ns": 0 for each in pieces}
    for each in pieces:
        sums[f"{each.kind}_ns"] += each.ns
    return StepTruth(
        step,
        sum(each.ns for each in pieces),
        overlapped_communication_ns=sum(each.beside_ns for each in pieces),
        **sums,
    )


def make_ranks(
    ranks: int, straggler: int | None = None, seed: int = 0, **options: Any
) -> list[tuple[dict[str, Any], list[StepTruth]]]:
    """One trace a rank of one run: a step takes as long on all, for the collective at its end waits for the slowest.

    The straggler works 1.25 times as long as the others, who wait for it in exposed communication.
    """
    steps = options.pop("steps", 3)
    made = []
    for rank in range(ranks):
        own = []
        for index in range(steps):
            work = draw_pieces(seed * 1000 + index, "matmul", options.get("step_ns", 8_000_000), ranks)
            total = sum(each.ns for each in work)
            if rank == straggler:
                slower = [replace(each, ns=each.ns * 5 // 4) for each in work]
                own.append([*slower, Piece("exposed_communication", 200_000)])
            else:
                waiting = sum(each.ns * 5 // 4 for each in work) - total if straggler is not None else 0
                own.append([*work, Piece("exposed_communication", waiting + 200_000)])
        made.append(make_trace(seed * 100 + rank, pieces=own, rank=rank, ranks=ranks, **options))
    return made


def write_trace(trace: Any, path: Path) -> Path:
    """Write a trace as JSON, gzipped when the name ends in `.gz`; the same trace gives the same bytes."""
    text = json.dumps(trace).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    return path
