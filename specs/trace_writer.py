"""Fills a stretch of time with the events that a PyTorch trace would have there; `specs.traces` knows the truth."""

import itertools
import random
from dataclasses import dataclass, field
from typing import Any, Literal

from specs.trace_names import NAMES, OPERATORS, Device, Work

Kind = Literal[
    "matmul", "attention", "memory_bound", "copy", "exposed_communication", "idle_data", "idle_host"
]
WORKS: tuple[Work, ...] = ("matmul", "attention", "memory_bound", "copy")
"""In the order in which they claim an instant at which several run."""
BASE_NS = 1_785_707_026_000_000_000
MAIN_STREAM, SIDE_STREAM, COMMUNICATION_STREAM = 7, 20, 24
LAUNCH_LEAD_NS = 20_000
"""How far the CPU is ahead of the device."""
PROCESS = 4242


@dataclass(frozen=True)
class Options:
    """What `make_trace` was asked for."""

    device: Device
    rank: int
    ranks: int
    streams: int
    nested: bool
    shapes: bool
    grain: int
    """Nanoseconds of which every time is a multiple."""
    loader: str


@dataclass
class _Run:
    """Something that runs from `begin` to `end`, in nanoseconds."""

    work: Work
    name: str
    stream: int
    begin: int
    end: int


@dataclass
class TraceWriter:
    """Collects the events of one trace."""

    options: Options
    seed: int
    _runs: list[_Run] = field(default_factory=list)
    _collectives: list[_Run] = field(default_factory=list)
    _spans: list[tuple[str, int, int]] = field(default_factory=list)
    """Annotations of the CPU."""
    _joined: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311  # draws test data, guards nothing

    def piece(self, kind: Kind, begin: int, ns: int, beside_ns: int, before_ns: int) -> None:
        """Fill `ns` nanoseconds from `begin`.

        Args:
            beside_ns: how long collectives run under the end of it.
            before_ns: how long the device has worked until now, where waiting would not show.
        """
        end = begin + ns
        if kind == "idle_data":
            # The loop asks for data while the device still works: that part of the wait costs nothing.
            early = self._cut(0, before_ns) if before_ns and self.options.device != "cpu" else 0
            self._spans.append((self.options.loader, begin - early, end))
        elif kind == "exposed_communication":
            self._collect(begin, end)
        elif kind != "idle_host":
            self._work(kind, begin, end)
            if beside_ns:
                self._collect(end - beside_ns, end)

    def step(self, number: int, begin: int, end: int) -> None:
        """Mark a step."""
        self._spans.append((f"ProfilerStep#{number}", begin, end))

    def join(self, border: int) -> None:
        """Let one kernel lie across the border of two steps, where both have work of one kind."""
        self._joined.add(border)

    def outside(self, first: int, last: int) -> None:
        """Work before the first step and after the last, which belongs to none."""
        if self.options.device != "cpu":
            for begin in (first - 400_000, last + 10_000):
                self._runs.append(self._run("memory_bound", MAIN_STREAM, begin, begin + 60_000))

    def trace(self, shuffled: bool) -> dict[str, Any]:
        """The whole trace."""
        self._join_across()
        events = self._metadata()
        marks = [self._annotation(*span) for span in self._spans]
        runs = [*self._runs, *self._collectives]
        for number, run in enumerate(sorted(runs, key=lambda run: (run.begin, run.stream)), start=1):
            marks += (
                self._operators(run, number) if self.options.device == "cpu" else self._launched(run, number)
            )
        if self.options.device != "cpu":
            marks += self._twins()
        if shuffled:
            self._random.shuffle(marks)
        else:
            marks.sort(key=lambda event: float(event["ts"]))
        first = min(begin for _, begin, _ in self._spans)
        last = max(end for _, _, end in self._spans)
        window = {
            "ph": "i",
            "s": "g",
            "name": "Record Window End",
            "pid": "",
            "tid": "",
            "ts": self._us(last),
        }
        span = {
            "ph": "X",
            "cat": "Trace",
            "name": "PyTorch Profiler (0)",
            "pid": "Spans",
            "tid": "PyTorch Profiler",
            "ts": self._us(first),
            "dur": self._us(last - first),
            "args": {"Op count": 0},
        }
        return {**self._head(), "traceEvents": [*events, *marks, span, window], "traceName": "trace.json"}

    def _cut(self, low: int, high: int) -> int:
        """A multiple of the grain from `low` up to and without `high`."""
        grain = self.options.grain
        return self._random.randrange(low // grain, max(low // grain + 1, high // grain)) * grain

    def _run(self, work: Work, stream: int, begin: int, end: int) -> _Run:
        return _Run(work, self._random.choice(NAMES[self.options.device][work]), stream, begin, end)

    def _work(self, work: Work, begin: int, end: int) -> None:
        """Kernels back to back from `begin` to `end`; on other streams some inside and across them."""
        least = max(2_000, self.options.grain)
        most = 4 if self.options.device != "cpu" else 3
        wanted = min(self._random.randint(1, most), max(1, (end - begin) // (2 * least)))
        cuts = {self._cut(begin + least, end - least) for _ in range(wanted - 1)} if wanted > 1 else set()
        edges = sorted({begin, end} | {each for each in cuts if begin < each < end})
        for left, right in itertools.pairwise(edges):
            self._runs.append(self._run(work, MAIN_STREAM, left, right))
        if self.options.nested and self.options.device != "cpu" and self.options.streams > 1:
            # As long as it ends inside the piece, work that claims no earlier place changes nothing.
            for stream in range(SIDE_STREAM, SIDE_STREAM + self.options.streams - 2):
                left = self._cut(begin, end)
                right = self._cut(left, end) + self.options.grain
                other = self._random.choice(WORKS[WORKS.index(work) :])
                if right <= end and self._random.random() < 0.6:
                    self._runs.append(self._run(other, stream, left, right))

    def _collect(self, begin: int, end: int) -> None:
        """A collective from `begin` to `end`: one that ends at `begin` may go on, another may run inside it."""
        stream = COMMUNICATION_STREAM if self.options.streams > 1 else MAIN_STREAM
        last = self._collectives[-1] if self._collectives else None
        if last is not None and last.end == begin and last.stream == stream and self._random.random() < 0.7:
            last.end = end
        else:
            self._collectives.append(self._run("communication", stream, begin, end))
        if self.options.nested and self.options.streams > 2 and self._random.random() < 0.3:
            left = self._cut(begin, end)
            inner = self._run("communication", COMMUNICATION_STREAM + 4, left, end)
            self._collectives.insert(0, inner)

    def _join_across(self) -> None:
        """One kernel of the two that touch at a border between steps."""
        for border in self._joined:
            left = next((run for run in self._runs if run.end == border and run.stream == MAIN_STREAM), None)
            right = next(
                (run for run in self._runs if run.begin == border and run.stream == MAIN_STREAM), None
            )
            if left and right and left.work == right.work:
                left.end = right.end
                self._runs.remove(right)

    def _us(self, ns: int) -> int | float:
        """Nanoseconds as the trace writes them: microseconds with three decimals, or whole."""
        return ns // 1000 if self.options.grain == 1000 else ns / 1000

    def _event(
        self, cat: str, name: str, pid: Any, tid: Any, begin: int, end: int, args: Any
    ) -> dict[str, Any]:
        times = {"ts": self._us(begin), "dur": self._us(end - begin)}
        return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, **times, "args": args}

    def _annotation(self, name: str, begin: int, end: int) -> dict[str, Any]:
        args = {"External id": begin % 100_000, "Record function id": 0, "Ev Idx": 0}
        return self._event("user_annotation", name, PROCESS, PROCESS, begin, end, args)

    def _twins(self) -> list[dict[str, Any]]:
        """Steps and collectives as Kineto shows them over the device's streams: annotations, no kernels."""
        args = {"External id": 7}
        rank = self.options.rank
        steps = [
            self._event("gpu_user_annotation", name, rank, MAIN_STREAM, begin + 9_000, end + 9_000, args)
            for name, begin, end in self._spans
            if name.startswith("ProfilerStep")
        ]
        collectives = [
            self._event("gpu_user_annotation", "nccl:all_reduce", rank, run.stream, run.begin, run.end, args)
            for run in self._collectives
        ]
        return steps + collectives

    def _launched(self, run: _Run, number: int) -> list[dict[str, Any]]:
        """A kernel or copy of the device, with what launched it and the arrow between them."""
        cat = "kernel"
        if run.work == "copy":
            cat = "gpu_memset" if run.name.startswith("Memset") else "gpu_memcpy"
        ids = {"External id": number, "correlation": 5000 + number}
        args: dict[str, Any] = {
            **ids,
            "queued": 0,
            "device": self.options.rank,
            "context": 1,
            "stream": run.stream,
        }
        if cat == "kernel":
            args |= {"grid": [132, 1, 1], "block": [384, 1, 1], "shared memory": 188636}
            if self.options.device == "cuda":
                args |= {"registers per thread": 168, "blocks per SM": 1.0, "warps per SM": 12.0}
                args["est. achieved occupancy %"] = 19
        else:
            args |= {"bytes": 4 * (run.end - run.begin), "memory bandwidth (GB/s)": 4.0}
        if run.work == "communication" and self.options.ranks > 1:
            args |= {"Collective name": "allreduce", "dtype": "BFloat16", "Group size": self.options.ranks}
        begin = run.begin - LAUNCH_LEAD_NS
        prefix = "hip" if self.options.device == "rocm" else "cuda"
        api = "MemcpyAsync" if cat == "gpu_memcpy" else "LaunchKernel"
        runtime = {**ids, "cbid": 211}
        outer, inner = OPERATORS[run.work]
        grain = self.options.grain
        return [
            self._event(cat, run.name, self.options.rank, run.stream, run.begin, run.end, args),
            self._event("cpu_op", outer, PROCESS, PROCESS, begin, begin + 2 * grain, self._shapes(number)),
            self._event("cpu_op", inner, PROCESS, PROCESS, begin, begin + 2 * grain, self._shapes(number)),
            self._event(f"{prefix}_runtime", prefix + api, PROCESS, PROCESS, begin, begin + grain, runtime),
            self._arrow("s", number, PROCESS, PROCESS, begin),
            {**self._arrow("f", number, self.options.rank, run.stream, run.begin), "bp": "e"},
        ]

    def _arrow(self, phase: str, number: int, pid: int, tid: int, at: int) -> dict[str, Any]:
        return {
            "ph": phase,
            "id": number,
            "pid": pid,
            "tid": tid,
            "ts": self._us(at),
            "cat": "ac2g",
            "name": "ac2g",
        }

    def _operators(self, run: _Run, number: int) -> list[dict[str, Any]]:
        """An operator of the CPU inside the one that was called, which adds no time of its own."""
        events = [self._event("cpu_op", run.name, PROCESS, PROCESS, run.begin, run.end, self._shapes(number))]
        if self.options.nested and run.work in ("matmul", "attention"):
            outer = (
                "autograd::engine::evaluate_function: AddmmBackward0"
                if number % 2
                else OPERATORS[run.work][0]
            )
            args = {"External id": number, "Ev Idx": number}
            events.insert(0, self._event("cpu_op", outer, PROCESS, PROCESS, run.begin, run.end, args))
        return events

    def _shapes(self, number: int) -> dict[str, Any]:
        args: dict[str, Any] = {"External id": number, "Record function id": 0, "Ev Idx": number}
        if self.options.shapes:
            args |= {"Input Dims": [[8192, 4096], [4096, 12288]], "Input type": ["c10::BFloat16"] * 2}
        return args

    def _metadata(self) -> list[dict[str, Any]]:
        """Names of processes and streams."""
        at = self._us(min(begin for _, begin, _ in self._spans))

        def named(what: str, pid: Any, tid: Any, **args: Any) -> dict[str, Any]:
            return {"ph": "M", "name": what, "ts": at, "pid": pid, "tid": tid, "args": args}

        events = [
            named("process_name", PROCESS, 0, name="python"),
            named("process_labels", PROCESS, 0, labels="CPU"),
            named("thread_name", PROCESS, PROCESS, name=f"thread {PROCESS} (python)"),
        ]
        if self.options.device != "cpu":
            rank = self.options.rank
            events += [
                named("process_name", rank, 0, name="python"),
                named("process_labels", rank, 0, labels=f"GPU {rank}"),
            ]
            streams = sorted({run.stream for run in [*self._runs, *self._collectives]})
            events += [named("thread_name", rank, stream, name=f"stream {stream} ") for stream in streams]
        return events

    def _head(self) -> dict[str, Any]:
        """What stands before the events."""
        names = {"cuda": "NVIDIA H100 80GB HBM3", "rocm": "AMD Instinct MI300X"}
        head: dict[str, Any] = {"schemaVersion": 1, "deviceProperties": []}
        if self.options.device in names:
            head["deviceProperties"] = [
                {
                    "id": self.options.rank,
                    "name": names[self.options.device],
                    "totalGlobalMem": 84_930_265_088,
                    "computeMajor": 9,
                    "computeMinor": 0,
                    "maxThreadsPerBlock": 1024,
                    "warpSize": 32,
                    "numSms": 132,
                }
            ]
        if self.options.ranks > 1:
            head["distributedInfo"] = {
                "backend": "nccl",
                "rank": self.options.rank,
                "world_size": self.options.ranks,
                "pg_count": 1,
                "nccl_version": "2.27.5",
            }
        return {
            **head,
            "record_shapes": int(self.options.shapes),
            "trace_id": f"{self.seed:032X}",
            "displayTimeUnit": "ms",
            "baseTimeNanoseconds": BASE_NS,
        }
