"""Broken kernels, one fault each: found with its kind, its message and its line, and the process lives on."""

import re
from typing import get_args

import pytest

pytest.importorskip("triton", reason="triton is for Linux")

from grader.kernels.evidence import FindingKind
from tests.kernels import corpus
from tests.kernels.walk import THE_CHILD, Row, walked

BROKEN = corpus.broken_cases()
EACH = [
    pytest.param(broken, dtype, id=f"{broken.name}-{dtype}") for broken in BROKEN for dtype in broken.dtypes
]


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, str], Row]:
    """What one sanitized walk over the broken corpus saw."""
    return walked("broken")


def test_corpus_is_as_large_as_promised() -> None:
    """At least 25 broken kernels; each kind of finding has one."""
    assert len(BROKEN) >= 25
    assert {broken.kind for broken in BROKEN} == set(get_args(FindingKind))


def test_process_survives_every_broken_kernel(rows: dict[tuple[str, str], Row]) -> None:
    assert THE_CHILD not in rows, rows[THE_CHILD]["error"]


@pytest.mark.parametrize(("broken", "dtype"), EACH)
def test_fault_is_found_with_its_message_at_its_line(
    rows: dict[tuple[str, str], Row], broken: corpus.Broken, dtype: str
) -> None:
    row = rows.get((broken.name, dtype)) or pytest.fail("the child did not reach it", pytrace=False)
    seen = [(f["kind"], f["place"]["line"], f["message"]) for f in row["findings"]]
    of_kind = [(line, message) for kind, line, message in seen if kind == broken.kind]
    assert of_kind, f"no {broken.kind}, but {seen}; {row['error']}"
    assert any(re.search(broken.message, message) for _, message in of_kind), of_kind
    assert any(line == broken.line and re.search(broken.message, message) for line, message in of_kind), (
        of_kind
    )
    assert {kind for kind, _, _ in seen} <= {broken.kind, *broken.also}, seen
