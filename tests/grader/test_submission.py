"""What is remembered of a submission's calls: values that can be compared in no time, and no others."""

from typing import Any

import pytest

from grader.calls.runner import Request
from grader.calls.submission import TOO_LARGE, Submission
from specs import Cost, KvCacheBytes, Op
from specs.assignment import assignment


class Returns:
    """A runner that has one answer to everything."""

    isolation = "local"

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def require_file(self, assignment: str, file: str) -> None:
        """All are there."""

    def run(self, request: Request) -> Any:
        return self._answer

    def close(self) -> None:
        """Nothing runs."""


@pytest.mark.parametrize(
    ("answer", "is_kept"),
    [
        (Cost(flops=1, bytes_read=2, bytes_written=3), True),
        (KvCacheBytes(keys=1, values=2, latent=0, rotary_keys=0), True),
        (Op(name="add", flops=1, reads={f"t{n}": 1 for n in range(100)}, writes={}), True),
        (Op(name="add", flops=1, reads={f"t{n}": 1 for n in range(60_000)}, writes={}), False),
        ([Cost(flops=1, bytes_read=2, bytes_written=3)] * 60_000, False),
        (list(range(60_000)), False),
    ],
)
def test_a_value_too_large_to_be_compared_with_mistakes_is_not_kept(answer: Any, is_kept: bool) -> None:
    submission = Submission(Returns(answer))
    exercise = assignment("memory").exercise("state_bytes_per_parameter")
    got = submission.run(Request("memory", "state.py", "state_bytes_per_parameter"), exercise)
    assert got == answer
    assert [call.got for call in submission.calls] == [answer if is_kept else TOO_LARGE]
