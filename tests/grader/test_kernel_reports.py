"""What the judge makes of a worker's report on kernels: faults from findings, integrity from contradictions."""

import json
import time
from pathlib import Path

import pytest
import torch

from grader.calls import evidence as reports
from grader.calls import recomputed
from grader.calls.recomputed import contradiction
from grader.kernels.evidence import (
    CallEvidence,
    CompiledLaunch,
    Finding,
    Launch,
    Place,
    TensorTraffic,
    TorchWork,
)
from grader.report import Outcome
from grader.worker import wire

SOURCE = """import triton


@triton.jit
def add_kernel(x_ptr, n):
    x = tl.load(x_ptr + n)


@triton.autotune(configs=[], key=["n"])
@triton.jit
def tuned(
    x_ptr,
):
    pass


def add(x):
    pass
"""


@pytest.fixture
def sources(tmp_path: Path) -> reports.Sources:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "vector.py").write_text(SOURCE)
    (tmp_path / "secret.py").write_text("the answer\n")
    return reports.Sources(tmp_path / "work")


def finding(
    kind="out_of_bounds_load", line=6, kernel="add_kernel", file="vector.py", message="row 130 of 128"
):
    return Finding(kind=kind, kernel=kernel, place=Place(file=file, line=line), index=(130,), message=message)


def test_a_finding_is_a_failure_with_its_place_and_a_symptom(sources):
    fault = reports.finding_fault("add", finding(), sources)
    assert fault.outcome is Outcome.FAILED
    assert fault.symptom == "kernel.out_of_bounds_load"
    assert fault.message == "row 130 of 128 at vector.py, line 6: x = tl.load(x_ptr + n)"


def test_a_hidden_check_tells_neither_index_nor_line_nor_the_submissions_text(sources):
    fault = reports.finding_fault("add", finding(message="q has 77 rows"), sources)
    assert fault.hidden_message == (
        "the kernel add_kernel loads from outside of a tensor: mask what lies beyond its end"
    )


def test_a_kernel_that_is_not_in_the_source_is_not_named(sources):
    fault = reports.finding_fault("add", finding(kernel="q_has_77_rows"), sources)
    assert "77" not in fault.hidden_message


def test_a_choice_among_many_kernels_is_not_told(tmp_path):
    (tmp_path / "vector.py").write_text(
        "".join(f"@triton.jit\ndef rows_{n}(x_ptr):\n    pass\n" for n in range(100))
    )
    fault = reports.finding_fault("add", finding(kernel="rows_77"), reports.Sources(tmp_path))
    assert "77" not in fault.hidden_message


def test_every_kind_of_finding_has_its_words_for_hidden_checks(sources):
    for kind in Finding.model_fields["kind"].annotation.__args__:
        assert reports.finding_fault("add", finding(kind=kind), sources).hidden_message[-1].isalpha()


@pytest.mark.parametrize("file", ["../secret.py", "/etc/passwd", "nothing.py", "", "vector.py\0"])
def test_a_place_outside_of_the_submission_is_no_place(sources, file):
    fault = reports.finding_fault("add", finding(file=file, line=1), sources)
    assert fault.message == "row 130 of 128"


def test_a_message_that_steers_a_terminal_is_made_printable_and_short(sources):
    fault = reports.finding_fault("add", finding(message="\x1b[2J" + "x" * 10_000), sources)
    assert fault.message.replace("\n", "").isprintable()
    assert len(fault.message) < 1000


def test_kernels_are_found_under_their_decorators():
    assert reports.kernels_in(SOURCE) == ["add_kernel", "tuned"]
    odd = "@triton.jit()\n@other\n)\n  def _a(x):\n    pass\n @triton.jit\ndef b(\n@triton.jit\n\ndef c("
    assert reports.kernels_in(odd) == ["_a"]


def test_decorators_without_end_are_read_once():
    """A search that began anew at each of them took a judge 30 s for 150 kB."""
    began = time.monotonic()
    assert reports.kernels_in("@triton.jit\n" * 80_000) == []
    assert time.monotonic() - began < 5


def evidence(*findings: Finding) -> CallEvidence:
    return CallEvidence(findings=findings)


def test_an_input_that_may_be_changed_is_no_finding():
    changed = finding("modified_input").model_copy(update={"tensor": "out"})
    assert reports.first_finding(evidence(changed), ("out",), False) is None
    assert reports.first_finding(evidence(changed), ("x",), False) is changed


def test_what_a_function_raised_says_more_than_the_output_that_it_left_unwritten():
    left = finding("unwritten_output")
    assert reports.first_finding(evidence(left), (), True) is None
    assert reports.first_finding(evidence(left, finding()), (), True).kind == "out_of_bounds_load"


@pytest.mark.parametrize(
    "report",
    [
        b"",
        b"[]",
        b'{"launches": 3}',
        b'{"extra": 1}',
        b'{"findings": [{"kind": "no_such_kind", "message": ""}]}',
        b"[" * 100_000,
        b'{"launches": [{"kernel": "k", "grid": ["x"]}]}',
        "text",
        None,
        b" " * (9 << 20),
    ],
    ids=["empty", "list", "number", "extra", "kind", "deep", "grid", "text", "none", "large"],
)
def test_a_report_of_another_form_is_tampering(report):
    with pytest.raises(wire.WireTampered):
        reports.read_evidence(report)


def test_too_many_launches_are_tampering():
    one = {"kernel": "k", "compiles": False}
    assert len(reports.read_launches(json.dumps([one]).encode())) == 1
    with pytest.raises(wire.WireTampered):
        reports.read_launches(json.dumps([one] * 300).encode())


def traffic(**changes) -> CallEvidence:
    right = {"tensor": "x", "shape": (8, 4), "dtype": "float16", "read_bytes": 128, "unique_read_bytes": 64}
    return CallEvidence(
        launches=(Launch(kernel="k", grid=(2,), tensors=(TensorTraffic(**{**right, **changes}),)),)
    )


def test_evidence_that_holds_together_passes():
    x = torch.zeros(8, 4, dtype=torch.float16)
    assert contradiction(traffic(), {"x": x}) == ""
    assert contradiction(CallEvidence(), {}) == ""


@pytest.mark.parametrize(
    "seen",
    [
        traffic(unique_read_bytes=65, read_bytes=65),
        traffic(unique_read_bytes=64, read_bytes=32),
        traffic(read_bytes=-1, unique_read_bytes=-1),
        traffic(unique_read_bytes=0),
        traffic(written_bytes=4),
        traffic(atomics=-1),
        traffic(shape=(4, 8)),
        CallEvidence(launches=(Launch(kernel="k", grid=(1,), dot_flops={"bf16": -5}),)),
        CallEvidence(launches=(Launch(kernel="k", grid=(0,)),)),
        CallEvidence(torch=TorchWork(largest_temporary_bytes=5)),
    ],
)
def test_evidence_that_cannot_be_is_noticed(seen):
    assert contradiction(seen, {"x": torch.zeros(8, 4)})


def test_no_launch_is_assembled_after_a_minute(monkeypatch):
    """PTX can be written that takes long, and a call may have hundreds of launches."""
    clock, assembled = [0.0], []

    def slow(ptx, target):
        clock[0] += 25
        assembled.append(ptx)
        return launch

    launch = CompiledLaunch(kernel="k", compiles=True)
    monkeypatch.setattr(recomputed, "assemble", slow)
    monkeypatch.setattr(recomputed.time, "monotonic", lambda: clock[0])
    assert recomputed.differs_from_its_ptx([launch] * 20) == ""
    assert len(assembled) == 3
