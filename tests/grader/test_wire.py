"""The frames of the wire: deadlines and caps hold, and no bytes get more out of it than a typed error."""

import json
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import specs
from grader.worker import wire
from tests.drawn import DRAWN

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    left, right = socket.socketpair()
    with left, right:
        yield left, right


def frame(header: bytes, body: bytes = b"", *, header_bytes: int | None = None) -> bytes:
    size = len(header) if header_bytes is None else header_bytes
    return struct.pack("!4sIQ", wire.MAGIC, size, len(body)) + header + body


def receive(data: bytes) -> tuple[object, list[bytearray]]:
    """What the judge makes of `data` followed by the end of the stream."""
    left, right = socket.socketpair()
    with left, right:

        def feed() -> None:
            try:
                left.sendall(data)
                left.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # refused before it was read

        feeder = threading.Thread(target=feed)
        feeder.start()
        try:
            return wire.receive_frame(right, time.monotonic() + 10)
        finally:
            right.close()
            feeder.join()


def test_frames_follow_each_other_and_the_end_is_closed_not_tampered(pair: Pair) -> None:
    left, right = pair
    wire.send_frame(left, {"n": 1}, [b"", b"ab", memoryview(b"cde")])
    wire.send_frame(left, {"n": 2})
    left.close()
    assert wire.receive_frame(right) == ({"n": 1}, [b"", b"ab", b"cde"])
    assert wire.receive_frame(right) == ({"n": 2}, [])
    with pytest.raises(wire.WireClosed):
        wire.receive_frame(right)


def test_sending_to_the_dead_is_closed(pair: Pair) -> None:
    left, right = pair
    right.close()
    with pytest.raises(wire.WireClosed):
        wire.send_frame(left, {})


def test_a_frame_that_trickles_in_arrives(pair: Pair) -> None:
    left, right = pair
    data = frame(b'{"header":{"a":"\xc3\xa9"},"storages":[3]}', b"xyz")

    def trickle() -> None:
        for byte in data:
            left.sendall(bytes([byte]))

    thread = threading.Thread(target=trickle)
    thread.start()
    assert wire.receive_frame(right, time.monotonic() + 10) == ({"a": "é"}, [b"xyz"])
    thread.join()


@pytest.mark.parametrize("cut", [0, 3, 15, 16, 20, -1])
def test_the_deadline_holds_wherever_the_frame_stalls(pair: Pair, cut: int) -> None:
    left, right = pair
    left.sendall(frame(b'{"header":{},"storages":[3]}', b"xyz")[:cut])
    with pytest.raises(wire.WireTimeout):
        wire.receive_frame(right, time.monotonic() + 0.03)


def test_the_deadline_holds_while_bytes_keep_coming(pair: Pair) -> None:
    left, right = pair
    done = threading.Event()

    def trickle() -> None:
        left.sendall(struct.pack("!4sIQ", wire.MAGIC, 1000, 0))
        while not done.wait(0.005):
            left.sendall(b" ")

    thread = threading.Thread(target=trickle)
    thread.start()
    with pytest.raises(wire.WireTimeout):
        wire.receive_frame(right, time.monotonic() + 0.1)
    done.set()
    thread.join()


def test_a_deadline_in_the_past_does_not_wait(pair: Pair) -> None:
    with pytest.raises(wire.WireTimeout):
        wire.receive_frame(pair[1], time.monotonic() - 1)


def test_a_reader_that_does_not_read_cannot_hold_the_sender(pair: Pair) -> None:
    with pytest.raises(wire.WireTimeout):
        wire.send_frame(pair[0], {}, [bytes(4 << 20)], deadline=time.monotonic() + 0.05)


GOOD = b'{"header":{},"storages":[]}'


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"\x80\x04\x95" + bytes(40),  # a pickle
        struct.pack("!4sIQ", wire.MAGIC, 2, 2**63),
        struct.pack("!4sIQ", wire.MAGIC, 2**32 - 1, 0),
        frame(b""),
        frame(b"null"),
        frame(b"[]"),
        frame(b"{}"),
        frame(b'{"header":{}}'),
        frame(b'{"header":[],"storages":[]}'),
        frame(b'{"header":{},"storages":{}}'),
        frame(b'{"header":{},"storages":[],"more":1}'),
        frame(b'{"header":{},"header":{},"storages":[]}'),
        frame(b'{"header":{"a":1,"a":2},"storages":[]}'),
        frame(b'{"header":{},"storages":[1]}'),
        frame(GOOD, b"x"),
        frame(b'{"header":{},"storages":[-1,2]}', b"x"),
        frame(b'{"header":{},"storages":[true]}', b"x"),
        frame(b'{"header":{},"storages":[1.0]}', b"x"),
        frame(b'{"header":{"a":NaN},"storages":[]}'),
        frame(b'{"header":{"a":-Infinity},"storages":[]}'),
        frame(b'{"header":{"a":"\xff"},"storages":[]}'),
        frame(b'{"header":{"a":"\xed\xa0\x80"},"storages":[]}'),
        frame(b'{"header":{"a":"\\ud800"},"storages":[]}'),
        frame(b'{"header":{"a":"\\\\\\uDC00"},"storages":[]}'),
        frame(b'{"header":{"a":' + b"9" * 5000 + b'},"storages":[]}'),
        frame(b'{"header":{"a":0.' + b"9" * 5000 + b'},"storages":[]}'),
        frame(b'{"header":{"a":' + b"[" * 300 + b"]" * 300 + b'},"storages":[]}'),
        frame(b'{"header":{"a":' + b"[" * 1_000_000 + b'},"storages":[]}'),
        frame(b'{"header":{"a":' + b'{"a":' * 100_000 + b'},"storages":[]}'),
        frame(b'{"header":{},"storages":[' + b"0," * 20_000 + b"0]}"),
        frame(GOOD + b" trailing"),
        frame(b"\xef\xbb\xbf" + GOOD),
    ],
    ids=lambda data: repr(data[16:50]),
)
def test_what_is_no_frame_is_tampering(data: bytes) -> None:
    with pytest.raises(wire.WireTampered):
        receive(data)


@pytest.mark.parametrize("cut", [1, 4, 15, 16, 30, -1])
def test_a_frame_cut_short_is_truncated(cut: int) -> None:
    whole = frame(b'{"header":{},"storages":[2]}', b"ab")
    with pytest.raises(wire.WireTruncated):
        receive(whole[:cut])


def test_brackets_and_digits_inside_strings_are_only_text(pair: Pair) -> None:
    text = '\\"[[[{{{' * 200 + "7" * 5000 + '\\ud800 \\\\ " é \n'
    wire.send_frame(pair[0], {text: [text, text]})
    assert wire.receive_frame(pair[1]) == ({text: [text, text]}, [])


def test_half_a_character_in_a_header_arrives_as_a_question_mark(pair: Pair) -> None:
    wire.send_frame(pair[0], {"message": "a\ud800b"})
    assert wire.receive_frame(pair[1]) == ({"message": "a?b"}, [])


def test_memory_grows_with_what_arrives_and_not_with_what_is_claimed(pair: Pair) -> None:
    left, right = pair
    size = wire.CAPS.body_bytes
    header = json.dumps({"header": {}, "storages": [size]}).encode()
    left.sendall(struct.pack("!4sIQ", wire.MAGIC, len(header), size) + header + b"only this")
    left.close()
    tracemalloc.start()
    try:
        with pytest.raises(wire.WireTruncated):
            wire.receive_frame(right)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < 4 << 20


def test_a_frame_above_the_caps_is_refused_before_a_byte_is_sent(pair: Pair) -> None:
    left, right = pair
    caps = wire.Caps(header_bytes=100, body_bytes=10, storages=1)
    for header, storages, says in (
        ({"a": "x" * 200}, [], "bytes of text and numbers, the limit is 100"),
        ({}, [b"x" * 11], "too large to be sent: 11 bytes of tensors and byte strings, the limit is 10"),
        ({}, [b"", b""], "too large to be sent: 2 tensors and byte strings, the limit is 1"),
    ):
        with pytest.raises(wire.Unsendable, match=says):
            wire.send_frame(left, header, storages, caps=caps)
    with pytest.raises(wire.Unsendable, match="not plain JSON"):
        wire.send_frame(left, {"a": {1, 2}})  # type: ignore[dict-item]
    with pytest.raises(wire.WireTimeout):
        wire.receive_frame(right, time.monotonic() + 0.02)


def test_the_receiver_keeps_its_own_caps() -> None:
    left, right = socket.socketpair()
    with left, right:
        wire.send_frame(left, {}, [bytes(2000)])
        with pytest.raises(wire.WireTampered, match="above the limit"):
            wire.receive_frame(right, None, wire.Caps(body_bytes=1000))


VALID = [
    frame(
        json.dumps({"header": {"id": 3, "value": tree}, "storages": [len(part) for part in parts]}).encode(),
        b"".join(parts),
    )
    for tree, parts in (
        wire.encode(value)
        for value in (
            {"a": [1, 2.5, float("inf")], (1, 2): b"bytes"},
            [torch.arange(4.0).reshape(2, 2).t(), torch.ones(2, dtype=torch.bfloat16), np.arange(3)],
            specs.ModelShape(layers=2, hidden=3),
        )
    )
]


@settings(DRAWN, max_examples=250)
@given(
    st.sampled_from(VALID),
    st.lists(
        st.tuples(st.integers(0, 2000), st.integers(0, 6), st.binary(min_size=0, max_size=6)), max_size=4
    ),
)
def test_a_mutated_frame_is_a_value_or_a_wire_error(data: bytes, edits: list[tuple[int, int, bytes]]) -> None:
    for place, removed, added in edits:
        at = place % (len(data) + 1)
        data = data[:at] + added + data[at + removed :]
    try:
        header, storages = receive(data)
        assert isinstance(header, dict)
        value = wire.decode(header.get("value"), storages)
    except wire.WireError:
        return
    wire.canonical(value)


def test_the_staged_copy_imports_alone_and_lightly(tmp_path: Path) -> None:
    """As the sandbox has it: a folder `_rooflab_worker` on the path, nothing else of grader, no torch."""
    shutil.copytree(Path(wire.__file__).parent, tmp_path / "_rooflab_worker")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from _rooflab_worker import wire, load\n"
        "print(wire.decode(*wire.encode({'a': (1, b'b')})))\n"
        "print(sorted({'numpy', 'torch', 'pydantic', 'specs', 'grader'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["{'a': (1, b'b')}", "[]"]
