"""The sanitizer refuses what must not happen, names it in one line, and lets honest kernels alone."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton")

from tests.kernels.recorder_kernels import recorded

FAULTS = Path(__file__).with_name("recorder_faults.py")


def findings(case: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = recorded("sanitizer")[case]["evidence"]["findings"]
    return found


def finding(case: str, kind: str) -> dict[str, Any]:
    """The only finding of a case."""
    (found,) = findings(case)
    assert found["kind"] == kind
    return found


def error(case: str) -> str | None:
    seen: str | None = recorded("sanitizer")[case]["error"]
    return seen


def line_with(text: str) -> int:
    return next(at for at, line in enumerate(FAULTS.read_text().splitlines(), 1) if text in line)


def test_an_access_past_a_view_is_its_fault_though_the_memory_is_a_neighbours() -> None:
    """Past the end of q lies k: address ranges would blame nobody."""
    found = finding("past the view", "out_of_bounds_load")
    assert (found["tensor"], found["index"], found["program"]) == ("q", [20, 0], [1, 0, 0])
    assert "row 20 of 20 of q (shape (20, 8))" in found["message"]
    assert error("past the view") == "KernelFault"


def test_memory_between_the_elements_of_a_view_is_out_of_bounds() -> None:
    """A row stride of 8 where the view's is 16: the message says both."""
    found = finding("between the elements", "out_of_bounds_load")
    assert found["tensor"] == "q"
    assert "steps 8 elements along its axis 0, but the tensor's strides are (16, 1)" in found["message"]


def test_a_finding_has_the_line_of_the_helper_and_the_name_of_the_kernel() -> None:
    """The load stands in a jit function that the kernel calls."""
    found = finding("last row", "out_of_bounds_load")
    line = line_with("# in a helper")
    assert found["kernel"] == "rows_kernel"
    assert (Path(found["place"]["file"]).name, found["place"]["line"]) == (FAULTS.name, line)
    assert f"rows_kernel line {line} `return tl.load(" in found["message"]


def test_the_remedy_uses_the_kernels_own_variables() -> None:
    """`rows` holds the index along the dimension; nothing in the helper holds the limit, so it is a number."""
    assert finding("last row", "out_of_bounds_load")["message"].endswith(
        "mask the tail, e.g. mask=rows[:, None] < 20"
    )


def test_a_block_pointer_is_held_to_its_own_shape() -> None:
    """Past the last column lies the next row, so every address is inside the tensor."""
    message = finding("block", "out_of_bounds_load")["message"]
    assert "loads column 16 of 16 of x" in message
    assert "boundary_check=(1,)" in message
    assert findings("block, checked") == []


def test_an_offset_below_zero_is_called_so() -> None:
    """x[-1]"""
    message = finding("before the start", "out_of_bounds_load")["message"]
    assert "element -1 of 64 of x" in message
    assert "the offset is below 0" in message


@pytest.mark.parametrize("case", ["far away", "farther than the tag", "null", "unsanitized far away"])
def test_a_wild_pointer_does_not_take_the_process_down(case: str) -> None:
    """The access is refused before it happens, also where the sanitizer is off; the cases after it still ran."""
    finding(case, "out_of_bounds_load")
    assert error(case) == "KernelFault"
    assert "repeated" in recorded("sanitizer")


def test_a_refused_launch_is_in_the_evidence() -> None:
    """What it did until then stays counted."""
    (launch,) = recorded("sanitizer")["last row"]["evidence"]["launches"]
    assert launch["grid"] == [2, 1, 1]
    assert {t["tensor"]: t["read_bytes"] for t in launch["tensors"]}["x"] == 16 * 8 * 4


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (
            "race different",
            "program (1, 0, 0) stores to element 0 of out (shape (8,)), where program (0, 0, 0)",
        ),
        ("race read", "program (1, 0, 0) loads element 1 of out (shape (8,)), which program (0, 0, 0) wrote"),
        (
            "race overwrite",
            "program (1, 0, 0) overwrites element 1 of out (shape (8,)), which program (0, 0, 0)",
        ),
        ("race lanes", "stores different values to element 0 of out (shape (8,)) in one tl.store"),
        (
            "race atomic",
            "program (1, 0, 0) updates element 0 of out (shape (8,)) atomically, where program (0, 0, 0)",
        ),
    ],
)
def test_what_depends_on_the_order_of_programs_is_a_race(case: str, words: str) -> None:
    """The launch goes on to its end: a race is a finding, no refusal."""
    assert words in finding(case, "race")["message"]
    assert error(case) is None


@pytest.mark.parametrize("case", ["race same", "race lanes, same", "race own", "race counter", "same values"])
def test_an_order_that_does_not_matter_is_no_race(case: str) -> None:
    """Equal values, one's own elements, and what an acquire-release atomic orders."""
    assert findings(case) == []


def test_a_relaxed_atomic_orders_nothing() -> None:
    """The last to arrive may read the others' elements before they are there."""
    assert "loads element 1 of out" in finding("race relaxed counter", "race")["message"]


@pytest.mark.parametrize("case", ["race total", "race total after the ticket"])
def test_a_load_of_what_others_still_add_to_is_a_race(case: str) -> None:
    """One's own atomic does not tell that all have added, whatever its memory order; one finding, at the load."""
    found = finding(case, "race")
    assert found["program"] in ([0, 0, 0], [1, 0, 0])
    assert "loads element 0 of out (shape (8,)), which program" in found["message"]
    assert "updates atomically in the same launch" in found["message"]
    assert "tl.load(out_ptr))" in found["place"]["source"]


@pytest.mark.parametrize(
    "case", ["race total by the last", "race total under a lock", "race turns", "race exchange loop"]
)
def test_a_load_that_waits_its_turn_or_tries_again_is_no_race(case: str) -> None:
    """Counters, locks, volatile loads that wait, and values that an atomic exchange compares again."""
    assert findings(case) == []
    assert error(case) is None


def test_a_race_is_seen_through_two_parameters_of_one_memory() -> None:
    """Program 1 reads through src the element that program 0 wrote through dst."""
    kinds = {found["kind"] for found in findings("race through two names")}
    assert kinds == {"race"}


def test_reading_the_unwritten_part_of_an_empty_tensor_is_refused() -> None:
    """PyTorch filled 30 of 40 elements; the kernel reads them all."""
    found = finding("sum of empty", "uninitialised_read")
    assert (found["index"], found["program"]) == ([30], [0, 0, 0])
    assert "torch.zeros" in found["message"]


def test_a_half_written_output_is_told_with_its_first_hole() -> None:
    """96 of 128 rows, also seen through a view that is returned; the place is where the tensor was made."""
    found = finding("half written", "unwritten_output")
    assert found["message"].startswith("dst: 2,048 of 8,192 elements were never written, first at (96, 0): ")
    assert found["message"].endswith("does the grid cover all rows?")
    assert found["place"]["line"] == line_with("dst = torch.empty((128, 64))")


def test_outputs_are_found_inside_a_dict_and_written_ones_let_alone() -> None:
    """One of the two values is complete."""
    found = finding("unwritten inside", "unwritten_output")
    assert "32 of 64 elements" in found["message"]


def test_an_argument_that_a_kernel_changed_is_named() -> None:
    """Unless the caller says that it is there to be written to."""
    found = finding("into argument", "modified_input")
    assert (found["tensor"], found["kernel"], found["index"]) == ("out", "copy_kernel", [1])
    assert findings("into argument, allowed") == []


def test_a_fault_that_the_student_catches_is_still_found() -> None:
    """And the launch after it is recorded as usual."""
    finding("swallowed", "out_of_bounds_load")
    assert error("swallowed") is None
    assert len(recorded("sanitizer")["swallowed"]["evidence"]["launches"]) == 2


def test_one_fault_is_one_finding_however_often_it_happens() -> None:
    """Three launches race at the same line."""
    finding("repeated", "race")
    assert len(recorded("sanitizer")["repeated"]["evidence"]["launches"]) == 3


def test_without_the_sanitizer_only_wild_accesses_are_findings() -> None:
    """Two programs write one element and nobody minds."""
    assert findings("unsanitized race") == []
