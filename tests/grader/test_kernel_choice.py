"""Which of several guessed inputs `grader kernel` reports on, with runs made up here: no torch, no triton."""

from pathlib import Path

import pytest

from grader.kernel_report import child, progress
from grader.kernel_report.families import TensorOf
from grader.kernel_report.signatures import Inputs
from grader.kernel_report.task import Answer, Task, Tensor
from grader.kernels.evidence import CallEvidence, Finding, Launch
from grader.kernels.faults import KernelFault

TWO = [Inputs({"x": TensorOf((4, 4))}), Inputs({"x": TensorOf((7,))})]
DOT = KernelFault(Finding(kind="dot_operands", message="tl.dot of fp32 and bf16"))
OUTSIDE = KernelFault(Finding(kind="out_of_bounds_load", message="loads element 4 of 4"))


@pytest.fixture
def choose(monkeypatch):
    """What is chosen where the runs end so: by dtype and number of the inputs, None where all is well."""

    def chosen(ends: dict[tuple[str, int], BaseException | None]) -> tuple[Answer, list[tuple[str, int]]]:
        ran = []

        def recorded(task, function, inputs, dtype):
            key = (dtype, TWO.index(inputs))
            ran.append(key)
            error = ends[key]
            reached = error is None or isinstance(error, KernelFault)
            launches = (Launch(kernel="k", grid=(1,)),) if reached else ()
            tensor = Tensor(name="x", shape=inputs.tensors["x"].shape, dtype=dtype, bytes=0)
            evidence = CallEvidence(launches=launches)
            return Answer(
                called=True, dtype=dtype, inputs=(tensor,), problem=str(error or ""), evidence=evidence
            ), error

        monkeypatch.setattr(child, "_recorded", recorded)
        answer = child._first_that_works(Task(file=Path("k.py"), function="k"), print, TWO)
        return answer, ran

    return chosen


def test_inputs_that_the_host_code_refuses_make_way_for_the_next(choose):
    """The dtype stays."""
    answer, ran = choose({("bf16", 0): ValueError("two dimensions"), ("bf16", 1): None})
    assert ran == [("bf16", 0), ("bf16", 1)]
    assert (answer.chosen, answer.dtype, answer.problem) == (1, "bf16", "")
    assert answer.refused == ("bf16, x 4×4: two dimensions",)


def test_a_dtype_that_a_dot_refuses_stays_a_finding_beside_the_next_dtype(choose):
    """The shapes were right: others are not tried in that dtype."""
    answer, ran = choose({("bf16", 0): DOT, ("fp32", 0): None})
    assert ran == [("bf16", 0), ("fp32", 0)]
    assert answer.dtype == "fp32"
    assert answer.refused_findings == (("bf16", DOT.finding),)


def test_a_fault_ends_the_search(choose):
    """Other inputs may hide it."""
    answer, ran = choose({("bf16", 0): OUTSIDE})
    assert ran == [("bf16", 0)]
    assert answer.problem == "loads element 4 of 4"


def test_a_stub_ends_the_search(choose):
    """NotImplementedError comes with any inputs."""
    answer, ran = choose({("bf16", 0): NotImplementedError("todo")})
    assert ran == [("bf16", 0)]
    assert answer.problem == "todo"


def test_where_nothing_works_the_first_is_reported_and_the_others_are_told(choose):
    """Two dtypes of two inputs."""
    ends = {
        (dtype, number): ValueError(f"{dtype} {number}") for dtype in ("bf16", "fp32") for number in (0, 1)
    }
    answer, ran = choose(ends)
    assert len(ran) == 4
    assert answer.problem == "bf16 0"
    assert [reason.partition(": ")[2] for reason in answer.refused] == ["bf16 1", "fp32 0", "fp32 1"]


def test_durations_are_written_for_people():
    """Seconds, minutes, hours."""
    assert [progress.duration(s) for s in (0.2, 89, 600, 7200)] == ["1 s", "89 s", "10 min", "2 h"]
