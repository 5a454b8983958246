"""Many replies from one: parts of its header exchanged for others, its bytes changed; cheap beside drawing."""

import copy
import json
import random
import struct
from collections.abc import Iterator
from typing import Any

from grader.worker.values import FIELDS, TENSOR_DTYPES
from tests.fuzz.replies import DIGITS, frame

_ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        16,
        2**31,
        2**53,
        2**63,
        2**64,
        DIGITS,
        -DIGITS,
        0.5,
        -0.0,
        1e308,
        5e-324,
    ),
    *(
        "",
        "x",
        "nan",
        "inf",
        "\x1b[2J",
        "\ud800",
        "\x00",
        "value",
        "recorded",
        "raised",
        "../..",
        [],
        {},
        [[]],
    ),
    *sorted(TENSOR_DTYPES),
    *({"$": kind} for kind in sorted(FIELDS)),
)
_BYTES = (
    b"",
    b"[",
    b"{",
    b'"',
    b"\\",
    b"\xff",
    b"\x00",
    b"9" * 50,
    b"NaN",
    b"1e999",
    b"\\ud800",
    b",,",
    b"}}",
)


def mutants(reply: bytes, count: int, source: random.Random) -> Iterator[bytes]:
    """So many replies made of this one."""
    header, storages = _taken_apart(reply)
    for _ in range(count):
        way = source.random()
        if header is not None and way < 0.7:
            other = copy.deepcopy(header)
            for _ in range(source.randint(1, 3)):
                _exchange(other, source)
            kept = storages if source.random() < 0.9 else [source.randbytes(source.randint(0, 70))]
            yield frame(other, kept)
        else:
            yield _spoilt(reply, source)


def _taken_apart(reply: bytes) -> tuple[Any, list[bytes]]:
    """Header and storages of a whole frame; None and nothing of another one."""
    try:
        _, length, _ = struct.unpack("!4sIQ", reply[:16])
        envelope = json.loads(reply[16 : 16 + length])
        body, storages = reply[16 + length :], []
        for size in envelope["storages"]:
            storages.append(body[:size])
            body = body[size:]
        return envelope["header"], storages
    except (struct.error, ValueError, KeyError, TypeError):
        return None, []


def _exchange(tree: Any, source: random.Random) -> None:
    """One part somewhere below is dropped, doubled, or another one."""
    places = [(tree, key) for key in tree] if isinstance(tree, dict) else []
    for inner, key in places:  # grows while it is walked
        value = inner[key]
        if isinstance(value, dict):
            places += [(value, name) for name in value]
        elif isinstance(value, list):
            places += [(value, at) for at in range(len(value))]
    if not places:
        return
    inner, key = source.choice(places)
    what = source.random()
    if what < 0.15:
        del inner[key]
    elif what < 0.3:
        other, name = source.choice(places)
        if other is not inner:
            inner[key] = copy.deepcopy(other[name])
    elif what < 0.4 and isinstance(inner, dict):
        inner[source.choice(("$", "id", "kind", "value", "storage", "size", "extra"))] = source.choice(_ODD)
    else:
        inner[key] = copy.deepcopy(source.choice(_ODD))


def _spoilt(reply: bytes, source: random.Random) -> bytes:
    for _ in range(source.randint(1, 3)):
        at, removed = source.randint(0, len(reply)), source.choice((0, 0, 1, 2, 8))
        added = source.choice((*_BYTES, source.randbytes(2)))
        reply = reply[:at] + added + reply[at + removed :]
    return reply
