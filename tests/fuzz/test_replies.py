"""Whatever a worker answers costs its check at the most, never the judge: a few hundred replies, and all found so far.

The long run is `make fuzz`; what it found is in README.md beside this file.
"""

import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.worker import wire
from tests.fuzz.judged import ID, REQUESTS, judged
from tests.fuzz.replies import frame, replies

QUICK = settings(
    max_examples=120,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
LOST = {"failed", "crashed", "timed_out", "integrity", "todo", "needs_gpu", "grader_error"}


@pytest.mark.parametrize("way", sorted(REQUESTS))
def test_a_reply_is_a_value_or_costs_its_check(way, tmp_path):
    @QUICK
    @given(replies(way))
    def every(reply):
        assert judged(way, reply, tmp_path) in {"value", *LOST}

    every()


@QUICK
@given(st.binary(max_size=400), st.sampled_from(sorted(REQUESTS)))
def test_bytes_that_are_no_frame_are_tampering_or_a_crash(tmp_path_factory, raw, way):
    outcome = judged(way, raw, tmp_path_factory.getbasetemp())
    assert outcome == ("integrity" if raw else "crashed")


def _report(text: bytes) -> bytes:
    value = {"$": "tuple", "items": [{"$": "tuple", "items": [1, 2]}, {"$": "bytes", "storage": 0}]}
    return frame({"id": ID, "kind": "recorded", "value": value}, [text])


_NOBODY = b'{"kind":"all_reduce","bytes":8,"dtype":"x","elements":2,"ranks":[]}'
_HUGE = b"9" * 4_000
FOUND = {
    "a collective of no rank": ("ranks", _report(b'{"collectives":[[%b],[]],"peak_bytes":[1,1]}' % _NOBODY)),
    "a tensor of a shape of thousands of digits": (
        "interpret",
        _report(
            b'{"launches":[{"kernel":"k","grid":[1],"tensors":[{"tensor":"q","dtype":"float32","shape":[%b]}]}]}'
            % b",".join([_HUGE] * 12)
        ),
    ),
    "a frame that claims an exabyte": ("call", struct.pack("!4sIQ", wire.MAGIC, 8, 2**63) + b"x" * 8),
    "half a character": ("call", frame({"id": ID, "kind": "value", "value": "\ud800"}, [])),
}
"""Replies over which the judge once failed, or could have."""


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_stays_mended(name, tmp_path):
    way, reply = FOUND[name]
    assert judged(way, reply, tmp_path) == "integrity"
