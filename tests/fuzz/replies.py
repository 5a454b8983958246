"""Hypothesis strategies for replies: frames, headers, values, storages, types and shapes, right, odd and broken."""

import json
import struct
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

import specs
from grader.kernels.evidence import FindingKind
from grader.worker import wire
from grader.worker.values import FIELDS, TENSOR_DTYPES
from tests.fuzz.judged import ID

DIGITS = int("9" * 3_990)
NUMBERS = st.sampled_from(
    [
        0,
        1,
        -1,
        2,
        3,
        16,
        2**31,
        2**40,
        2**50,
        2**53,
        2**63,
        2**64,
        -(2**63),
        10**30,
        DIGITS,
        -DIGITS,
        0.5,
        1e308,
    ]
)
TEXTS = st.sampled_from(
    [
        "",
        "x",
        "q",
        "memory/state.py",
        "state.py",
        "../..",
        "\x1b[2J",
        "\u202e",
        "<b>",
        "=1+1",
        "\x00",
        "é" * 50,
    ]
) | st.text(max_size=8)
SPEC_NAMES = st.sampled_from(sorted(specs.WIRE_TYPES))
NAMES = st.sampled_from(
    [*sorted(TENSOR_DTYPES), "object", "nan", "inf", "-inf", "layers", "hidden", "weights", "name", "moments"]
)
KINDS = st.sampled_from([*sorted(FIELDS), "list", "pickle", ""])
SMALL = st.integers(-1, 6)
STORAGES = st.lists(st.binary(max_size=64), max_size=3)


def _nodes(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    formed = KINDS.flatmap(
        lambda kind: st.fixed_dictionaries(
            {"$": st.just(kind)} | dict.fromkeys(sorted(FIELDS.get(kind, ())), inner)
        )
    )
    pairs = st.lists(st.tuples(inner, inner).map(list), max_size=3)
    dicts = st.fixed_dictionaries({"$": st.just("dict"), "pairs": pairs})
    of_specs = st.fixed_dictionaries({"$": st.just("spec"), "type": SPEC_NAMES, "data": dicts})
    return (
        st.lists(inner, max_size=4)
        | formed
        | dicts
        | of_specs
        | st.dictionaries(NAMES | st.just("$"), inner, max_size=3)
    )


_DIMS = st.lists(SMALL | NUMBERS, max_size=4)
_LEAVES = st.none() | st.booleans() | NUMBERS | NAMES | KINDS | TEXTS | st.floats(allow_nan=False)
_TENSORS = st.fixed_dictionaries(
    {
        "$": st.just("tensor"),
        "dtype": st.sampled_from(sorted(TENSOR_DTYPES)),
        "size": _DIMS,
        "stride": _DIMS,
        "offset": SMALL | NUMBERS,
        "storage": st.integers(0, 2),
        "requires_grad": st.booleans(),
    }
)
_ARRAYS = st.fixed_dictionaries(
    {"$": st.just("array"), "dtype": NAMES, "shape": _DIMS, "storage": st.integers(0, 2)}
)
TREES = st.recursive(_LEAVES | _TENSORS | _ARRAYS, _nodes, max_leaves=20)
"""What stands for a value in a header."""

_PLACES = st.fixed_dictionaries({}, optional={"file": TEXTS, "line": SMALL | NUMBERS, "source": TEXTS})
_COUNTS = st.integers(-1, 9) | st.sampled_from([2**31, 2**50, 2**63, DIGITS])
_SHAPES = st.lists(_COUNTS, max_size=5)
_TRAFFIC = st.fixed_dictionaries(
    {"tensor": TEXTS, "shape": _SHAPES, "dtype": NAMES},
    optional=dict.fromkeys(
        ("read_bytes", "unique_read_bytes", "written_bytes", "unique_written_bytes", "atomics"), _COUNTS
    ),
)
_LAUNCHES = st.fixed_dictionaries(
    {"kernel": TEXTS, "grid": _SHAPES},
    optional={
        "place": _PLACES,
        "tensors": st.lists(_TRAFFIC, max_size=3),
        "config_index": _COUNTS,
        "dot_flops": st.dictionaries(TEXTS, _COUNTS, max_size=2),
        "exps": _COUNTS,
        "atomics": _COUNTS,
    },
)
_FINDINGS = st.fixed_dictionaries(
    {"kind": st.sampled_from(FindingKind.__args__), "message": TEXTS},
    optional={"kernel": TEXTS, "place": _PLACES, "tensor": TEXTS, "program": _SHAPES, "index": _SHAPES},
)
EVIDENCE = st.fixed_dictionaries(
    {},
    optional={
        "launches": st.lists(_LAUNCHES, max_size=2),
        "findings": st.lists(_FINDINGS, max_size=2),
        "torch": st.fixed_dictionaries(
            {}, optional={"ops": st.dictionaries(TEXTS, _COUNTS, max_size=2), "peak_temporary_bytes": _COUNTS}
        ),
    },
)
COMPILED = st.lists(
    st.fixed_dictionaries(
        {"kernel": TEXTS, "compiles": st.booleans()},
        optional={
            "place": _PLACES,
            "error_place": _PLACES,
            "message": TEXTS,
            "registers": _COUNTS,
            "occupancy": st.floats(allow_nan=False, allow_infinity=False),
            "ptx": TEXTS,
            "notes": st.lists(TEXTS, max_size=2),
        },
    ),
    max_size=2,
)
_RANK = st.integers(-1, 5)
_COLLECTIVE_KINDS = st.sampled_from(
    [
        "all_reduce",
        "reduce_scatter",
        "all_gather",
        "broadcast",
        "send",
        "recv",
        "barrier",
        "gather",
        "scatter",
    ]
)
_COLLECTIVES = st.fixed_dictionaries(
    {
        "kind": _COLLECTIVE_KINDS,
        "bytes": _COUNTS,
        "dtype": TEXTS,
        "elements": _COUNTS,
        "ranks": st.lists(_RANK, max_size=4),
    },
    optional={"op": TEXTS, "peer": _RANK | st.none(), "phase": TEXTS},
)
_SIDES = st.fixed_dictionaries(
    {"rank": _RANK, "kind": _COLLECTIVE_KINDS, "number": _COUNTS, "elements": _COUNTS, "dtype": TEXTS},
    optional={"op": TEXTS, "peer": _RANK | st.none()},
)
_STATES = st.fixed_dictionaries(
    {"rank": _RANK, "status": st.sampled_from(["waits", "own_code", "returned", "raised", "died"])},
    optional={
        "kind": _COLLECTIVE_KINDS,
        "number": _COUNTS,
        "waits_for": st.lists(_RANK, max_size=3),
        "file": TEXTS,
        "line": SMALL | NUMBERS,
    },
)
ERRORS = st.fixed_dictionaries(
    {},
    optional={
        "type": TEXTS | st.sampled_from(["ModuleNotFoundError", "ValueError"]),
        "message": TEXTS | st.just("No module named 'numpy'"),
        "frames": st.lists(st.tuples(TEXTS, SMALL | NUMBERS, TEXTS).map(list), max_size=2),
        "is_todo": st.booleans(),
    },
)
_RANK_FAULTS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(
            [
                "raised",
                "unsendable",
                "died",
                "hang",
                "deadlock",
                "endless",
                "mismatch",
                "unmatched",
                "tampered",
            ]
        )
    },
    optional={
        "rank": _RANK,
        "error": ERRORS,
        "message": TEXTS,
        "sides": st.lists(_SIDES, max_size=3),
        "states": st.lists(_STATES, max_size=4),
        "seconds": st.floats(allow_nan=False, allow_infinity=False),
        "calls": _COUNTS,
    },
)
RANKS = st.fixed_dictionaries(
    {},
    optional={
        "collectives": st.lists(st.lists(_COLLECTIVES, max_size=2), min_size=2, max_size=2),
        "peak_bytes": st.lists(_COUNTS, min_size=2, max_size=2),
        "fault": _RANK_FAULTS,
    },
)


def _recorded(value: Any, report: Any) -> tuple[Any, list[bytes]]:
    """A value with a report, as a lane sends them."""
    raw = json.dumps(report).encode()
    return {"$": "tuple", "items": [value, {"$": "bytes", "storage": 0}]}, [raw]


_VALUES_OF_RANKS = st.just({"$": "tuple", "items": [1, 2]}) | TREES
_CONTENT = {
    "call": st.tuples(TREES, STORAGES),
    "load": st.tuples(TREES, STORAGES),
    "interpret": st.builds(_recorded, TREES, EVIDENCE),
    "compile": st.builds(_recorded, st.none(), COMPILED),
    "ranks": st.builds(_recorded, _VALUES_OF_RANKS, RANKS),
}


@st.composite
def replies(draw: st.DrawFn, way: str) -> bytes:
    """A reply to a question asked in this way: mostly whole, its content odd; at times its bytes are changed."""
    value, storages = draw(_CONTENT[way] | _CONTENT["call"])
    usual = {"call": "value", "load": "loaded"}.get(way, "recorded")
    header: dict[str, Any] = {
        "id": ID,
        "kind": draw(
            st.sampled_from(
                [usual] * 6 + ["raised", "unsendable", "no_function", "tampered", "broken", "value", "?"]
            )
        ),
        "value": value,
    }
    if draw(st.booleans()):
        header |= draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "error": ERRORS | TREES,
                    "message": TEXTS | TREES,
                    "needs_gpu": TEXTS | TREES,
                    "importing": st.booleans() | TREES,
                    "id": TEXTS,
                },
            )
        )
    raw = frame(header, storages)
    return _spoilt(draw, raw) if draw(st.integers(0, 4)) == 0 else raw


def frame(header: Any, storages: Sequence[bytes]) -> bytes:
    """The bytes of a frame, whatever is in it."""
    text = json.dumps({"header": header, "storages": [len(each) for each in storages]}, ensure_ascii=False)
    raw = text.encode("utf-8", "surrogatepass")
    body = b"".join(storages)
    return struct.pack("!4sIQ", wire.MAGIC, len(raw), len(body)) + raw + body


def _spoilt(draw: st.DrawFn, raw: bytes) -> bytes:
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(raw)))
        removed = draw(st.integers(0, 8))
        raw = raw[:at] + draw(st.binary(max_size=6)) + raw[at + removed :]
    return raw
