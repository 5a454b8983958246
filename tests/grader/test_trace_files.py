"""Traces that are broken, cut off, enormous or hostile: one line with the remedy, at a bounded cost."""

import gzip
import json
import tracemalloc
from typing import Any

import pytest

from grader.refusal import BadInput
from grader.traces import reader, stream
from specs.traces import make_trace, write_trace

STEP = {
    "ph": "X",
    "cat": "user_annotation",
    "name": "ProfilerStep#1",
    "pid": 1,
    "tid": 1,
    "ts": 0,
    "dur": 100.5,
}
KERNEL = {
    "ph": "X",
    "cat": "kernel",
    "name": "nvjet",
    "pid": 0,
    "tid": 7,
    "ts": 5,
    "dur": 9.25,
    "args": {"stream": 7},
}


@pytest.fixture
def refused(tmp_path):
    """What is said of a file with this content; always one line that begins with its name."""

    def said(content: bytes | str | list[Any], name: str = "run.json") -> str:
        path = tmp_path / name
        if isinstance(content, list):
            content = json.dumps({"traceEvents": content})
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        with pytest.raises(BadInput) as error:
            reader.read(path)
        message = str(error.value)
        assert message.startswith(f"{path}: ")
        assert "\n" not in message
        assert len(message) < 400
        return message.removeprefix(f"{path}: ")

    return said


@pytest.fixture
def read(tmp_path):
    """The trace with these events."""

    def reading(content: list[Any] | str) -> reader.Trace:
        path = tmp_path / "run.json"
        text = content if isinstance(content, str) else json.dumps({"traceEvents": content})
        path.write_text(text, encoding="utf-8")
        return reader.read(path)

    return reading


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; did the program end before"),
        (" \n\t ", "is empty"),
        ("{}", "no events in it, a trace of torch.profiler's export_chrome_trace is needed"),
        ('{"traceEvents": []}', "no events in it"),
        ('{"traceEvents": {"ph": "X"}}', "no events in it"),
        ("PK\x03\x04", "is no JSON; a trace of torch.profiler's export_chrome_trace"),
        ("\x00" * 100, "is no JSON"),
        ("[1, 2]", "event 1 is no object"),
        ('{"traceEvents": [null]}', "event 1 is no object"),
        (
            '{"traceEvents": [{"ph": "X"}',
            "the JSON ends early, it was cut off; copy it again, or let export_chrome",
        ),
        ('{"traceEvents": [{"ph": "X"}] extra', "the JSON is broken within the first"),
        ('{"traceEvents": [{"ph": "X"}]} {}', "more text follows the end of the JSON"),
        ('{"traceEvents": [{"ts": NaN}]}', "(NaN and Infinity are no JSON); export the trace again"),
        ('{"traceEvents": [{"ts": Infinity}]}', "(NaN and Infinity are no JSON)"),
        ('{"traceEvents": [{"ts": -Infinity}]}', "the JSON is broken within"),
        (b'{"traceEvents": [{"name": "\xff\xfe"}]}', "the JSON is broken within"),
    ],
    ids=str,
)
def test_what_is_no_trace_is_refused(refused, content, message):
    assert message in refused(content)


@pytest.mark.parametrize("at", [0.1, 0.5, 0.999])
def test_a_trace_cut_off_anywhere_is_refused(refused, tmp_path, at):
    whole = write_trace(make_trace(1)[0], tmp_path / "whole.json").read_bytes()
    assert "the JSON ends early" in refused(whole[: int(len(whole) * at)])
    packed = gzip.compress(whole)
    assert "the gzip ends early, it was cut off" in refused(packed[: int(len(packed) * at)], "run.json.gz")


def test_damaged_gzip_is_refused(refused, tmp_path):
    packed = bytearray(gzip.compress(json.dumps({"traceEvents": [STEP]}).encode() * 50))
    packed[-6] ^= 0xFF
    assert "the gzip is damaged" in refused(bytes(packed))
    assert "the gzip is damaged" in refused(b"\x1f\x8b\x08\x00" + b"\xff" * 100)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ts": "12.5"}, "event 2, nvjet: ts is '12.5', a number is needed"),
        ({"ts": None}, "event 2, nvjet: ts is missing, a number is needed"),
        ({"ts": True}, "ts is True, a number is needed"),
        ({"dur": [1]}, "dur is [1], a number is needed"),
        ({"dur": -0.001}, "dur is -0.001, a duration is from 0 upwards"),
        ({"ts": 1e300}, "ts is 1e+300, no time is so large"),
        ({"ts": -1e17}, "ts is -1e+17, no time is so large"),
        ({"name": 5}, "event 2 has no name"),
        ({"name": "\x1b[2Jx" * 50_000, "dur": -1}, "event 2, xxxxxxxx"),
    ],
    ids=str,
)
def test_an_event_that_says_no_time_is_named(refused, change, message):
    assert message in refused([STEP, KERNEL | change])


def test_events_that_do_not_count_may_be_anything(read):
    odd = [
        {},
        {"ph": "M", "ts": "x"},
        {"ph": "X", "cat": "python_function"},
        {"ph": "X", "cat": "gpu_user_annotation"},
    ]
    (step,) = read([STEP, *odd, {"ph": ["X"], "cat": {}}, KERNEL]).steps
    assert [event["name"] for event in step.events] == ["ProfilerStep#1", "nvjet"]


def test_numbers_of_any_size_are_read_where_no_time_depends_on_them(read):
    with_hash = KERNEL | {"args": {"CommHash": 12715772615376301750, "stream": 7, "correlation": 2**70}}
    (step,) = read([STEP, with_hash]).steps
    assert step.events[1]["dur"] == 9.25
    assert step.events[1]["args"] == {"stream": 7, "correlation": 2**70}
    text = json.dumps({"traceEvents": [STEP, KERNEL]}).replace("9.25", "1e999")
    with pytest.raises(BadInput, match="dur is"):
        read(text)


def test_of_keys_that_stand_twice_the_last_counts_and_of_lists_all_events(read):
    event = json.dumps(KERNEL).replace('"dur"', '"dur": 1, "dur"')
    trace = read(f'{{"traceEvents": [{json.dumps(STEP)}], "x": 1, "traceEvents": [{event}]}}')
    assert [each["dur"] for each in trace.steps[0].events] == [100.5, 9.25]


def test_no_steps_is_refused_with_the_remedy(refused):
    assert "no ProfilerStep#N in it: give torch.profiler.profile a schedule and call step()" in refused(
        [KERNEL]
    )
    twin = STEP | {"cat": "gpu_user_annotation"}
    assert "no ProfilerStep#N in it" in refused([KERNEL, twin])


def test_steps_of_one_number_or_of_no_length_are_refused(refused):
    assert "two steps are ProfilerStep#1" in refused([STEP, STEP | {"ts": 500}, KERNEL])
    assert "ProfilerStep#1 has no length" in refused([STEP | {"dur": 0}, KERNEL])


def test_steps_over_one_another_cost_no_more_than_others(refused, monkeypatch):
    monkeypatch.setattr(reader, "MOST_EVENTS", 300)
    steps = [STEP | {"name": f"ProfilerStep#{number}"} for number in range(50)]
    assert "its steps lie over one another" in refused([*steps, *[KERNEL] * 200])


def test_operators_and_waits_by_the_ten_thousand_take_no_time_to_match(read):
    from grader.traces.kernels import by_time

    wait = {**STEP, "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"}
    op = {**STEP, "cat": "cpu_op", "name": "aten::mm"}
    waits = [wait | {"ts": 10 * n, "dur": 4} for n in range(20_000)]
    ops = [op | {"ts": 10 * n + shift, "dur": 2} for n in range(20_000) for shift in (1, 5)]
    trace = read([STEP | {"dur": 200_000}, *waits, *ops])
    (kernel,) = by_time(trace, lambda event: "matmul")
    assert (kernel.launches, kernel.total_s) == (20_000, pytest.approx(0.04))


@pytest.mark.parametrize("number", ["9" * 4301, "1" + "0" * 309, "-" + "9" * 5000, "1E+99999999999999999999"])
@pytest.mark.parametrize("field", ["ts", "x"])
def test_a_number_that_no_float_holds_is_refused(refused, number, field):
    """Thousands of digits end ijson's process; an exponent of twenty is more than decimal takes."""
    event = '{"ph": "X", "cat": "kernel", "name": "gemm", "dur": 1, ' + f'"{field}": {number}}}'
    assert "a number " in refused('{"traceEvents": [' + event + "]}")


def test_deep_nesting_is_refused_before_it_costs_anything(refused):
    deep = "[" * 1_000_000
    assert "nests deeper than 64 levels" in refused(deep)
    assert "nests deeper than 64 levels" in refused(
        '{"traceEvents": [{"args": ' + deep + "]" * 1_000_000 + "}]}"
    )
    assert "nests deeper than 64 levels" in refused('{"traceEvents": [{"a": ' * 100)
    # Brackets in strings are none, and closing ones there hide nothing.
    assert "nests deeper than 64 levels" in refused('[ "]]\\"]]", ' * 100)
    assert "no ProfilerStep#N" in refused([{"name": '[[{{\\"[[' * 10_000}])


def test_a_string_that_ends_at_the_border_of_two_reads_is_still_a_string(read, monkeypatch):
    events = [STEP, *({"name": '\\"[{\\\\' * n + "\\" * n} for n in range(1, 40)), KERNEL]
    for chunk in (1, 2, 3, 7, 64):
        monkeypatch.setattr(stream, "_CHUNK", chunk)
        assert len(read(events).steps[0].events) == 2


def test_a_name_of_a_million_characters_is_cut(read):
    (step,) = read([STEP, KERNEL | {"name": "x" * 1_000_000, "tid": "y" * 1_000_000}]).steps
    assert len(step.events[1]["name"]) == reader.LONGEST_NAME
    assert len(step.events[1]["tid"]) <= 80


def test_a_bomb_is_refused_at_the_limit(refused):
    blanks = gzip.compress(b'{"traceEvents": [' + b" " * (stream.MOST_BYTES_WITHOUT_EVENT + 5_000_000))
    assert len(blanks) < 50_000
    assert "16 MiB without an event" in refused(blanks, "bomb.json.gz")


def test_more_than_the_most_bytes_or_events_is_refused(refused, monkeypatch):
    monkeypatch.setattr(stream, "MOST_BYTES", 20_000)
    wanted = "unpacks to more than 19.5 KiB; profile fewer steps: active=3"
    monkeypatch.setattr(stream, "_CHUNK", 1000)
    assert wanted in refused(gzip.compress(json.dumps([STEP] + [KERNEL] * 5000).encode()))
    monkeypatch.setattr(reader, "MOST_EVENTS", 100)
    assert "more than 100 kernels and operators; profile fewer steps" in refused([STEP] + [KERNEL] * 101)
    monkeypatch.setattr(reader, "MOST_STEPS", 3)
    steps = [STEP | {"name": f"ProfilerStep#{number}"} for number in range(4)]
    assert "4 steps, more than 3; profile fewer" in refused(steps)


def test_what_the_analysis_does_not_need_is_not_kept(tmp_path):
    frame = {
        "ph": "X",
        "cat": "python_function",
        "name": "f" * 200,
        "ts": 1,
        "dur": 2,
        "args": {"Python id": 3},
    }
    op = {
        "ph": "X",
        "cat": "cpu_op",
        "name": "aten::mm",
        "pid": 1,
        "tid": 1,
        "ts": 1,
        "dur": 2,
        "args": {"Ev Idx": 3},
    }
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"traceEvents": [STEP, *[frame, op] * 30_000, KERNEL]}), encoding="utf-8")
    assert path.stat().st_size > 10_000_000
    tracemalloc.start()
    trace = reader.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(trace.events) == 2
    assert peak < 5_000_000


def test_a_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        reader.read(tmp_path / "nowhere.json")
    with pytest.raises(BadInput, match="not a file"):
        reader.read(tmp_path)
    with pytest.raises(BadInput, match=r"no \.json or \.json\.gz in this folder"):
        reader.files([tmp_path])
    with pytest.raises(BadInput, match="no such file"):
        reader.files([tmp_path / "nowhere.json"])
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(BadInput, match="is given twice"):
        reader.files([tmp_path / "a.json", tmp_path / "a.json"])


def test_a_folder_means_the_traces_in_it(tmp_path):
    for name in ("b.pt.trace.json.gz", "a.json", "notes.txt"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "c.json").mkdir()
    assert [path.name for path in reader.files([tmp_path])] == ["a.json", "b.pt.trace.json.gz"]


def test_a_device_that_hides_from_the_first_look_is_still_a_device(read):
    """An escaped key is no reason to take the CPU's operators for kernels."""
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 6, "dur": 2}
    text = json.dumps({"traceEvents": [STEP, op, KERNEL]}).replace('"kernel"', '"\\u006bernel"')
    trace = read(text)
    assert not trace.cpu_only
    assert [event["name"] for event in trace.steps[0].events] == ["ProfilerStep#1", "nvjet"]
