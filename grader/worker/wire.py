"""The wire between judge and worker: length-capped frames of JSON and raw storages; nothing is unpickled.

The judge imports this file as `grader.worker.wire`, the sandbox as `_rooflab_worker.wire`. What comes in is taken as
hostile: `receive_frame` raises nothing but `WireError`s, whatever the bytes are.

A frame is `magic | u32 header length | u64 body length`, a UTF-8 JSON header, and the bytes of its storages.
How values become JSON and storages is in `encoding` and `decoding`; their functions are offered here too.
"""

import json
import re
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NoReturn

from .canonical import canonical
from .decoding import decode
from .encoding import encode
from .values import MAX_INT_DIGITS, Buffer, Json, Unsendable, WireError, WireTampered

__all__ = [
    "CAPS",
    "REPLY_CAPS",
    "Buffer",
    "Caps",
    "Json",
    "Unsendable",
    "WireClosed",
    "WireError",
    "WireTampered",
    "WireTimeout",
    "WireTruncated",
    "canonical",
    "decode",
    "encode",
    "receive_frame",
    "send_frame",
]

MAGIC = b"RLW1"
MAX_JSON_DEPTH = 256  # a dict takes three brackets for each of the 64 levels of a value
_PREFIX = struct.Struct("!4sIQ")
_CHUNK_BYTES = 1 << 18


class WireClosed(WireError):
    """The other side is gone, between two frames."""


class WireTimeout(WireError):
    """The deadline passed before the frame was through; the stream is out of step and must be closed."""


class WireTruncated(WireTampered):
    """The other side went away in the middle of a frame: a forger or a crash does this."""


@dataclass(frozen=True)
class Caps:
    """What a frame may hold at most."""

    header_bytes: int = 4 << 20
    body_bytes: int = 1 << 30
    storages: int = 10_000


CAPS = Caps()
REPLY_CAPS = Caps(header_bytes=2 << 20, body_bytes=256 << 20, storages=1_000)


def send_frame(
    sock: socket.socket,
    header: Mapping[str, Json],
    storages: Sequence[Buffer] = (),
    deadline: float | None = None,
    caps: Caps = CAPS,
) -> None:
    """Send one frame; `deadline` is in seconds of `time.monotonic`.

    Raises:
        Unsendable: the header is not plain JSON, or the frame is above `caps`; nothing was sent.
        WireClosed: the other side is gone.
        WireTimeout: the other side did not read in time.
    """
    sizes = [memoryview(storage).nbytes for storage in storages]
    envelope = {"header": dict(header), "storages": sizes}
    try:
        text = json.dumps(envelope, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise Unsendable(f"the header of a frame is not plain JSON ({error})") from None
    raw = text.encode("utf-8", "replace")
    for what, size, cap in (
        ("bytes of text and numbers", len(raw), caps.header_bytes),
        ("bytes of tensors and byte strings", sum(sizes), caps.body_bytes),
        ("tensors and byte strings", len(sizes), caps.storages),
    ):
        if size > cap:
            raise Unsendable(f"too large to be sent: {size:,} {what}, the limit is {cap:,}")
    before = sock.gettimeout()
    try:
        for part in (_PREFIX.pack(MAGIC, len(raw), sum(sizes)) + raw, *storages):
            sock.settimeout(_seconds_left(deadline))
            sock.sendall(part)
    except TimeoutError:
        raise WireTimeout("the other side did not read the frame in time") from None
    except OSError as error:
        raise WireClosed(f"the other side is gone ({error.strerror or error})") from None
    finally:
        _restore_timeout(sock, before)


def receive_frame(
    sock: socket.socket, deadline: float | None = None, caps: Caps = CAPS
) -> tuple[dict[str, Json], list[bytearray]]:
    """Receive one frame as (header, storages); memory grows with what arrives, never with what is claimed.

    Raises:
        WireClosed: end of stream between frames.
        WireTimeout: `deadline` (seconds of `time.monotonic`) passed, bytes trickling in or not.
        WireTampered: bad magic, too long, cut short, not the JSON of a frame, sizes that do not add up.
    """
    before = sock.gettimeout()
    try:
        prefix = _receive_exactly(sock, _PREFIX.size, deadline, starting=True)
        magic, header_bytes, body_bytes = _PREFIX.unpack(prefix)
        if magic != MAGIC:
            raise WireTampered("what came does not begin like a frame")
        if header_bytes > caps.header_bytes or body_bytes > caps.body_bytes:
            raise WireTampered(f"a frame claims {header_bytes:,} + {body_bytes:,} bytes, above the limit")
        header, sizes = _parse_envelope(_receive_exactly(sock, header_bytes, deadline))
        if len(sizes) > caps.storages or sum(sizes) != body_bytes:
            raise WireTampered("the sizes in a frame's header do not add up to its body")
        return header, [_receive_exactly(sock, size, deadline) for size in sizes]
    except TimeoutError:
        raise WireTimeout("no whole frame came in time") from None
    finally:
        _restore_timeout(sock, before)


def _receive_exactly(
    sock: socket.socket, size: int, deadline: float | None, *, starting: bool = False
) -> bytearray:
    received = bytearray()
    scratch = memoryview(bytearray(min(size, _CHUNK_BYTES)))
    while len(received) < size:
        sock.settimeout(_seconds_left(deadline))
        try:
            count = sock.recv_into(scratch[: size - len(received)])
        except TimeoutError:
            raise
        except OSError:  # reset by a peer that left data unread: the same as gone
            count = 0
        if count == 0:
            if starting and not received:
                raise WireClosed("the other side is gone")
            raise WireTruncated("the other side went away in the middle of a frame")
        received += scratch[:count]
    return received


def _seconds_left(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:  # 0 would mean "do not wait" and negative is refused by the socket
        raise TimeoutError
    return left


def _restore_timeout(sock: socket.socket, before: float | None) -> None:
    if sock.fileno() >= 0:
        sock.settimeout(before)


_TEXT = re.compile(rb'"[^"]*"')
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_LONG_NUMBER = re.compile(rb"[0-9.eE+-]{%d}" % (MAX_INT_DIGITS + 2))
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def _parse_envelope(raw: bytearray) -> tuple[dict[str, Json], list[int]]:
    # Depth and number length are bounded before the parser, which recurses and converts, sees the text. With
    # the escaped backslashes and quotes gone, what stands between two quotes is a string and can be dropped.
    escapes = raw.replace(rb"\\", b"")
    bare = _TEXT.sub(b"", escapes.replace(rb"\"", b""))
    depths = accumulate(map(_STEP.__getitem__, bare.translate(None, _NOT_BRACKETS)))
    if max(depths, default=0) > MAX_JSON_DEPTH:
        raise WireTampered("a frame's header is nested too deeply")
    if _LONG_NUMBER.search(bare):
        raise WireTampered(f"a number in a frame's header has more than {MAX_INT_DIGITS} digits")
    if _SURROGATE.search(escapes):  # the sender writes characters as they are: an escape here is half of one
        raise WireTampered("a frame's header holds half a character")
    try:
        envelope = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_object_without_repeats, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        raise WireTampered("a frame's header is not JSON in UTF-8") from None
    if not isinstance(envelope, dict) or envelope.keys() != {"header", "storages"}:
        raise WireTampered("a frame's header is not of the agreed form")
    header, sizes = envelope["header"], envelope["storages"]
    if not isinstance(header, dict) or not isinstance(sizes, list):
        raise WireTampered("a frame's header is not of the agreed form")
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise WireTampered("a frame's header gives a size that is no size")
    return header, sizes


def _object_without_repeats(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("repeated key")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
