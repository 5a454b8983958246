"""From traces to the tracks of a picture: which steps, which lanes, and no more spans than a picture can hold."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.plots.timeline import BINS, MOST_LANES, MOST_SPANS, Lane, Track, merged, spans_in
from grader.printable import printable
from grader.traces.kernels import Span, waits, work
from grader.traces.reader import Step, Trace
from specs.profiling import Event

MOST_STEPS = 3
Busy = Callable[[Sequence[Event]], Sequence[tuple[int, int]]]


def tracks(
    traces: Sequence[tuple[str, Trace]], classify: Callable[[Event], str], busy: Busy
) -> tuple[list[Track], str]:
    """The tracks of some traces with their names, and a note that says which steps are drawn.

    Args:
        busy: the student's busy_intervals; asked only of traces with a device.
    """
    for count in range(MOST_STEPS, 0, -1):
        # Of traces that are not in memory any more only the analysis is left.
        drawn = [_track(name, trace, count, classify, busy) for name, trace in traces if trace.steps]
        drawn = _with_room(drawn)
        if sum(map(spans_in, drawn)) <= MOST_SPANS:
            break
    dense = sum(map(spans_in, drawn)) > MOST_SPANS
    if dense:
        drawn = [replace(track, bins=BINS) for track in drawn]
    steps = [number for number, _ in drawn[0].steps]
    total = next(len(trace.steps) for _, trace in traces if trace.steps)
    which = f"step {steps[0]}" if len(steps) == 1 else f"steps {steps[0]} to {steps[-1]}"
    note = which if len(steps) == total else f"{which}, the first of {total}"
    if dense:
        width = max(track.end for track in drawn) / BINS * 1e3
        note += f"; too many kernels to be told apart: heights are shares of {width:.2g} ms each"
    if len(traces) > 1:
        note += "; each rank from the begin of its first step"
    if len(drawn) < len(traces):
        note += f"; {len(traces) - len(drawn)} more ranks are not drawn"
    return drawn, note


def _with_room(drawn: Sequence[Track]) -> list[Track]:
    """The first tracks whose lanes fit; of a track alone the first lanes."""
    kept: list[Track] = []
    lanes = 0
    for track in drawn:
        lanes += len(track.lanes)
        if lanes > MOST_LANES:
            break
        kept.append(track)
    first = drawn[0]
    return kept or [replace(first, lanes=first.lanes[:MOST_LANES])]


def _track(name: str, trace: Trace, count: int, classify: Callable[[Event], str], busy: Busy) -> Track:
    steps = trace.steps[:count]
    origin = steps[0].begin_us
    end = steps[-1].end_us

    def placed(begin_us: float, end_us: float) -> Span:
        """In seconds of the picture, cut off where it ends."""
        return (max(begin_us, origin) - origin) / 1e6, (min(end_us, end) - origin) / 1e6

    events = _events(steps)
    lanes: dict[tuple[str, str], dict[str, list[Span]]] = {}
    spans: list[Span] = []
    for event, ran in work(events, trace.cpu_only):
        lane = lanes.setdefault(_lane(event, trace.cpu_only), {})
        lane.setdefault(classify(event), []).extend(placed(*span) for span in ran)
        spans += ran if trace.cpu_only else ()
    if not trace.cpu_only:
        spans = [(begin / 1e3, end / 1e3) for begin, end in busy(events)]
    several = len({device for device, _ in lanes}) > 1
    return Track(
        name,
        [(step.number, placed(step.begin_us, step.end_us)) for step in steps],
        merged([placed(*span) for span in spans]),
        merged([placed(*span) for span in waits(events)]),
        [
            Lane(
                f"{device} {lane}" if several else lane, {kind: merged(each) for kind, each in kinds.items()}
            )
            for (device, lane), kinds in sorted(lanes.items(), key=lambda item: _natural(item[0]))
        ],
    )


def _events(steps: Sequence[Step]) -> list[Event]:
    """Of some steps, each event once."""
    return list({id(event): event for step in steps for event in step.events}.values())


def _lane(event: Event, cpu_only: bool) -> tuple[str, str]:
    """Device and stream, or process and thread, as they are labelled."""
    stream = event["tid"] if cpu_only else event["args"].get("stream", event["tid"])
    kind = "thread" if cpu_only else "stream"
    return printable(str(event["pid"]), 8), f"{kind} {printable(str(stream), 9)}"


def _natural(key: tuple[str, str]) -> tuple[object, ...]:
    """Stream 7 before stream 20."""
    return tuple((len(part), part) for part in key)
