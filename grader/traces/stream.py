"""Streams the events of a trace file in bounded memory: plain or gzipped JSON, an object with traceEvents or a list.

A trace is somebody else's file. What it can cost is bounded before a parser sees it: the bytes that it unpacks to, how
deep it nests (ijson keeps a path whose length is the depth, squared memory in all), the bytes without an event.
"""

import decimal
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from grader.printable import printable_path
from grader.refusal import BadInput

try:
    import ijson
except ModuleNotFoundError:  # a kit that was updated and not installed again
    raise BadInput("traces are read with ijson: pip install -e . and run this again") from None

MOST_BYTES = 4 << 30
"""Unpacked: a trace of some gigabytes is of minutes, and one of ten steps is enough."""
MOST_BYTES_WITHOUT_EVENT = 16 << 20
MOST_DEPTH = 64
"""Real traces have seven levels: the shapes of a list of tensors among an event's args."""
MOST_DIGITS = 300
"""Of a number: a float has no more, and an integer of thousands ends ijson's process."""
_TOO_LARGE = re.compile(rb"[0-9]{%d}" % (MOST_DIGITS + 1))
_CHUNK = 1 << 17
_GZIP = b"\x1f\x8b"
_DEVICE_WORK = re.compile(rb'"cat"\s*:\s*"(?:kernel|gpu_memcpy|gpu_memset)"')
_LONGEST_MARK = 64
_FEWER = "profile fewer steps: active=3 of the profiler's schedule is enough"


@dataclass
class Head:
    """What a trace says about itself."""

    rank: int | None = None
    world_size: int | None = None
    devices: tuple[str, ...] = ()


class _Guarded:
    """A file of bytes for ijson that refuses what would cost too much; counts what it has read."""

    def __init__(self, file: IO[bytes], shown: str) -> None:
        self._file, self._shown = file, shown
        self.read_bytes = 0
        self.event_at = 0
        """Where the last event was seen."""
        self._escaped = False
        """Whether a backslash at the end of the last part is about the first character of the next."""
        self._inside_string = False
        self._depth = 0
        self._tail = b""

    def read(self, wanted: int = _CHUNK) -> bytes:
        """Some bytes, none at the end, whatever number is wanted: but for 0, by which ijson asks for the type."""
        if wanted == 0:
            return b""
        chunk = self._file.read(_CHUNK)
        self.read_bytes += len(chunk)
        if self.read_bytes > MOST_BYTES:
            raise BadInput(f"{self._shown}: unpacks to more than {_size(MOST_BYTES)}; {_FEWER}")
        if self.read_bytes - self.event_at > MOST_BYTES_WITHOUT_EVENT:
            raise BadInput(
                f"{self._shown}: {_size(MOST_BYTES_WITHOUT_EVENT)} without an event, no trace of the PyTorch profiler"
            )
        seam = self._tail + chunk
        self._tail = seam[-MOST_DIGITS:]
        if _TOO_LARGE.search(seam):
            raise BadInput(
                f"{self._shown}: a number of more than {MOST_DIGITS} digits, no trace of the PyTorch profiler"
            )
        if self._deepest(chunk) > MOST_DEPTH:
            raise BadInput(
                f"{self._shown}: nests deeper than {MOST_DEPTH} levels, no trace of the PyTorch profiler"
            )
        return chunk

    def _deepest(self, chunk: bytes) -> int:
        """The most brackets that are open at once in this part, those in strings not counted."""
        if self._escaped:
            chunk = b" " + chunk[1:]
        self._escaped = (len(chunk) - len(chunk.rstrip(b"\\"))) % 2 == 1
        if b"\\" in chunk:
            chunk = chunk.replace(b"\\\\", b"  ").replace(b'\\"', b"  ")
        codes = np.frombuffer(chunk, np.uint8)
        marks = codes[(codes == 34) | ((codes | 32) == 123) | ((codes | 32) == 125)]  # " [ { ] }
        if not marks.size:
            return self._depth
        quotes = marks == 34
        inside = (np.cumsum(quotes) + self._inside_string) % 2 == 1
        steps = np.where(quotes | inside, 0, np.where((marks | 32) == 123, 1, -1))
        depths = self._depth + np.cumsum(steps)
        self._inside_string, self._depth = bool(inside[-1]), int(depths[-1])
        return int(depths.max())


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked where they are gzipped, whatever it is called.

    Raises:
        BadInput: it cannot be read, or its gzip is broken.
    """
    shown = printable_path(path)
    try:
        if not path.is_file():
            raise BadInput(f"{shown}: {'not a file' if path.exists() else 'no such file'}")
        with path.open("rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw
    except EOFError:
        raise BadInput(f"{shown}: the gzip ends early, {_TRUNCATED}") from None
    except (gzip.BadGzipFile, zlib.error):
        raise BadInput(
            f"{shown}: the gzip is damaged; copy the file again, or export the trace again"
        ) from None
    except OSError as error:
        raise BadInput(f"{shown}: cannot be read ({error.strerror or error})") from None


_TRUNCATED = "it was cut off; copy it again, or let export_chrome_trace end before the program does"


def has_device_work(path: Path) -> bool:
    """Whether some text of the file looks like an event of a device; the parser has the last word.

    It saves memory: only without such events are the CPU's operators wanted, which are most of a trace.
    """
    with _opened(path) as file:
        before, read = b"", 0
        while chunk := file.read(_CHUNK):
            read += len(chunk)
            if _DEVICE_WORK.search(before + chunk):
                return True
            if read > MOST_BYTES:
                return False  # refused when it is parsed
            before = chunk[-_LONGEST_MARK:]
    return False


class LongNumber(Exception):
    """A number that does not fit 64 bits: read the file again with `floats=False`."""


def events(path: Path, floats: bool = True) -> Iterator[Any]:
    """The events one after the other: dicts, if the file is in order.

    Args:
        floats: fractions are floats, and integers have 64 bits; else Decimals and integers of any size, at half the
            speed.

    Raises:
        BadInput: the file cannot be read, is empty, no JSON, cut off, or costs too much.
        LongNumber: only with `floats`.
    """
    shown = printable_path(path)
    with _opened(path) as file:
        first = _first_byte(file)
        if not first:
            raise BadInput(f"{shown}: is empty; did the program end before the trace was written?")
        if first not in (b"{", b"["):
            raise BadInput(f"{shown}: is no JSON; a trace of torch.profiler's export_chrome_trace is needed")
        guarded = _Guarded(file, shown)
        prefix = "item" if first == b"[" else "traceEvents.item"
        try:
            for event in ijson.items(guarded, prefix, use_float=floats):
                guarded.event_at = guarded.read_bytes
                yield event
        except decimal.InvalidOperation:  # an exponent of twenty digits
            raise BadInput(
                f"{shown}: a number that no float holds, no trace of the PyTorch profiler"
            ) from None
        except (ijson.JSONError, UnicodeDecodeError) as error:
            if floats and "overflow" in str(error):
                raise LongNumber from None
            raise BadInput(f"{shown}: {_what_is_wrong(str(error), guarded.read_bytes)}") from None


def head(path: Path) -> Head:
    """What stands about the run before the events."""
    found = Head()
    devices = []
    with _opened(path) as file:
        if _first_byte(file) != b"{":
            return found
        try:
            for prefix, event, value in ijson.parse(_Guarded(file, printable_path(path))):
                if prefix == "traceEvents" and event == "start_array":
                    break
                if prefix == "distributedInfo.rank" and event == "number":
                    found.rank = int(value) if 0 <= value < 1_000_000 else None
                elif prefix == "distributedInfo.world_size" and event == "number":
                    found.world_size = int(value) if 0 <= value < 1_000_000 else None
                elif prefix == "deviceProperties.item.name" and event == "string":
                    devices.append(value)
        except (ijson.JSONError, UnicodeDecodeError, decimal.InvalidOperation):
            pass  # `events` says what is wrong with the file
    found.devices = tuple(devices)
    return found


def _first_byte(file: IO[bytes]) -> bytes:
    """The first byte that is no white space; the file is back where it was, behind a byte order mark."""
    start = file.read(4096)
    mark = 3 if start.startswith(b"\xef\xbb\xbf") else 0
    file.seek(mark)
    return start[mark:].lstrip()[:1]


def _what_is_wrong(problem: str, at: int) -> str:
    if "premature EOF" in problem or "incomplete" in problem.lower():
        return f"the JSON ends early, {_TRUNCATED}"
    if "overflow" in problem:
        return f"a number within the first {_size(at)} is out of range, no trace of the PyTorch profiler"
    if "trailing garbage" in problem:
        return "more text follows the end of the JSON; export the trace again"
    also = " (NaN and Infinity are no JSON)" if "invalid char" in problem else ""
    return f"the JSON is broken within the first {_size(at)}{also}; export the trace again"


def _size(number: int) -> str:
    for size, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number} bytes"
