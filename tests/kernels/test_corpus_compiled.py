"""The whole corpus through the compiler for an H100, which refuses what the interpreter refuses by its dot rules."""

import pytest

pytest.importorskip("triton", reason="triton is for Linux")

from tests.kernels import corpus
from tests.kernels.on_gpu import report_apart
from tests.kernels.walk import Row


@pytest.fixture(scope="module")
def reported() -> dict[tuple[str, str], Row]:
    """What the compile-only report says, by case and dtype."""
    return report_apart("sm_90")


@pytest.mark.slow
def test_every_correct_kernel_compiles(reported: dict[tuple[str, str], Row]) -> None:
    """In each dtype; also, each case launches a kernel."""
    rows = [reported[case.name, dtype] for case in corpus.correct_cases() for dtype in case.dtypes]
    assert [
        (row["name"], row["dtype"]) for row in rows if row["refused"] or row["error"] or not row["code"]
    ] == []


@pytest.mark.slow
def test_compiler_refuses_what_the_interpreter_is_made_to_refuse(
    reported: dict[tuple[str, str], Row],
) -> None:
    """At the same line, and no other broken kernel."""
    refused = {case.name: reported[case.name, "bfloat16"]["refused"] for case in corpus.broken_cases()}
    lines = {name: {line for line, _ in found} for name, found in refused.items() if found}
    kinds = ("dot_operands", "not_triton")
    assert lines == {case.name: {case.line} for case in corpus.broken_cases() if case.kind in kinds}
