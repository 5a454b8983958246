"""Atheris, led by coverage, changes the bytes of whole replies: `python -m tests.fuzz.bytewise -max_total_time=60`.

The first byte says in which way the judge asks, the rest is the reply; its form's magic is put in front at times, since
four bytes are slow to guess.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["grader.worker", "grader.calls"]):
    from tests.fuzz.judged import ID, REQUESTS, judged
    from tests.fuzz.replies import frame

WAYS = sorted(REQUESTS)


def one(data: bytes) -> None:
    """Judge one input; `Broken` ends the run, and libFuzzer prints the input."""
    if data:
        judged(WAYS[data[0] % len(WAYS)], data[1:], SUBMISSION)


def corpus(folder: Path) -> None:
    """Whole replies to start from."""
    values = (
        None,
        [1, 2.5, "x", True],
        {"$": "float", "value": "nan"},
        {"$": "tuple", "items": [1, {"$": "bytes", "storage": 0}]},
        {"$": "dict", "pairs": [["weights", 2], ["moments", 8]]},
        {"$": "dtype", "name": "bfloat16"},
        {"$": "spec", "type": "StateBytes", "data": {"$": "dict", "pairs": [["weights", 2.0]]}},
        {"$": "array", "dtype": "float32", "shape": [2], "storage": 0},
        {
            "$": "tensor",
            "dtype": "float32",
            "size": [1, 2],
            "stride": [2, 1],
            "offset": 0,
            "storage": 0,
            "requires_grad": False,
        },
    )
    for number, value in enumerate(values):
        for way in range(len(WAYS)):
            for kind in ("value", "recorded"):
                raw = frame({"id": ID, "kind": kind, "value": value}, [b"12345678"])
                (folder / f"{number}-{way}-{kind}").write_bytes(bytes([way]) + raw)
    error = {"type": "ValueError", "message": "m", "frames": [["memory/state.py", 1, "x"]], "is_todo": False}
    raised = frame({"id": ID, "kind": "raised", "importing": False, "error": error}, [])
    (folder / "raised").write_bytes(b"\x00" + raised)


if __name__ == "__main__":
    SUBMISSION = Path(tempfile.mkdtemp(prefix="rooflab-fuzz-"))
    seeds = SUBMISSION / "corpus"
    seeds.mkdir()
    corpus(seeds)
    atheris.Setup([*sys.argv, str(seeds)], one)
    atheris.Fuzz()
