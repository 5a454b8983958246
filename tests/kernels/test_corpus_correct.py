"""Correct kernels: right values in three dtypes, within a GPU's own error, and not one finding."""

import pytest

pytest.importorskip("triton", reason="triton is for Linux")

from tests.kernels import corpus
from tests.kernels.walk import THE_CHILD, Row, walked

HALF = ("float16", "bfloat16")
CASES = corpus.correct_cases()
NAMES = [case.name for case in CASES]
EACH = [(case.name, dtype) for case in CASES for dtype in case.dtypes]


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, str], Row]:
    """What one sanitized walk over the correct corpus saw."""
    return walked("correct")


def row_of(rows: dict[tuple[str, str], Row], name: str, dtype: str) -> Row:
    died = rows.get(THE_CHILD, {}).get("error", "")
    if (name, dtype) not in rows:
        pytest.fail(f"the child did not reach {name} in {dtype}: {died}", pytrace=False)
    return rows[name, dtype]


def test_corpus_is_as_large_as_promised() -> None:
    """At least 20 correct kernels, each with a name of its own."""
    assert len(set(NAMES)) == len(NAMES) >= 20


def test_process_survives_the_walk(rows: dict[tuple[str, str], Row]) -> None:
    assert THE_CHILD not in rows, rows[THE_CHILD]["error"]


@pytest.mark.parametrize(("name", "dtype"), EACH)
def test_values_lie_within_the_error_of_a_device_like_oracle(
    rows: dict[tuple[str, str], Row], name: str, dtype: str
) -> None:
    """Each output, against 1.15 times the error that rounding as a GPU does makes by itself."""
    row = row_of(rows, name, dtype)
    assert row["error"] is None, row["error"]
    assert row["excess"], "the function returned no tensor"
    assert max(row["excess"]) <= 1, f"error over bound, by output: {row['excess']}"


@pytest.mark.parametrize(("name", "dtype"), EACH)
def test_no_finding_on_a_correct_kernel(rows: dict[tuple[str, str], Row], name: str, dtype: str) -> None:
    findings = row_of(rows, name, dtype)["findings"]
    assert not findings, [finding["message"] for finding in findings]


@pytest.mark.parametrize("wrong", ["truncation", "low_sums"])
@pytest.mark.parametrize("dtype", HALF)
def test_bound_tells_a_wrong_arithmetic_from_a_right_one(
    rows: dict[tuple[str, str], Row], dtype: str, wrong: str
) -> None:
    """Every case that truncation, or sums in 16 bits, would change at all rejects them."""
    seen = {name: row_of(rows, name, dtype)["wrong"][wrong] for name in NAMES}
    changed = {name: excess for name, excess in seen.items() if excess is not None}
    assert len(changed) >= len(NAMES) / 2
    assert {name: excess for name, excess in changed.items() if excess <= 1} == {}
