"""Kernels in real workers: values, gradients, evidence and compile reports, in a process and in the sandbox."""

from collections.abc import Iterator
from contextlib import closing

import pytest
import torch

from grader.calls.faults import KernelFinding, NeedsGpu, NeedsTriton, Raised, Tampered, Todo
from grader.calls.official import SandboxedRunner, installed_specs, stage
from grader.calls.runner import LocalRunner
from grader.calls.submission import Submission
from grader.calls.worker import LaneBroken
from grader.sandbox import available
from tests.grader.small_kernels import KIT, SOLUTION, Worked, X, Y, on_linux

pytestmark = on_linux


@pytest.fixture(scope="module", params=["local", "sandbox"])
def solution(request, staged, kernel_spec, with_assignment) -> Iterator[Worked]:
    """The solutions: in self-check, and confined."""
    if request.param == "sandbox" and not available().ok:
        pytest.skip("no sandbox here")
    root = KIT / "solutions"
    runner = (
        LocalRunner(root)
        if request.param == "local"
        else SandboxedRunner(staged, root, {"kernel_kit": kernel_spec}, "sandbox")
    )
    yield Worked(Submission(runner))
    runner.close()


def test_a_kernel_gives_its_value(solution):
    assert torch.equal(solution.at("add").add(X, Y), X + Y)


def test_an_autograd_function_gives_value_and_gradient(solution):
    value, (gradient,) = solution.at("double").Double.gradients(X, grad_outputs=Y)
    assert torch.equal(value, 2 * X)
    assert torch.equal(gradient, 2 * Y)


def test_a_metered_call_tells_bytes_by_the_students_names(solution):
    seen = solution.at("add").add.metered(X, Y)
    (launch,) = seen.evidence.launches
    assert torch.equal(seen.value, X + Y)
    assert launch.grid[0] == 2
    assert {t.tensor: (t.read_bytes, t.written_bytes) for t in launch.tensors} == {
        "x": (400, 0),
        "y": (400, 0),
        "out": (0, 400),
    }
    assert (launch.place.file, launch.place.line) == ("kernel_kit/vector.py", 14)


def test_metered_gradients_see_the_backward_kernel_too(solution):
    seen = solution.at("double").Double.metered_gradients(X, grad_outputs=Y)
    assert torch.equal(seen.value[1][0], 2 * Y)
    assert len(seen.evidence.launches) == 2


def test_a_compiled_call_tells_what_an_h100_would_run(solution):
    (launch,) = solution.at("add").add.compiled(X, Y)
    assert launch.compiles
    assert launch.registers > 0
    assert launch.place.file == "kernel_kit/vector.py"
    (ampere,) = solution.at("add").add.compiled(X, Y, target="sm_80")
    assert ampere.target == "sm_80"


def test_a_function_in_pytorch_is_metered_without_a_kernel(solution):
    rows = solution.at("row_sums").row_sums
    seen = rows.metered(X.reshape(10, 10))
    assert torch.equal(seen.value, X.reshape(10, 10).sum(1))
    assert seen.evidence.torch.ops == {"aten.sum": 1}
    assert torch.equal(rows.gradients(X.reshape(10, 10))[1][0], torch.ones(10, 10))


def test_an_unknown_target_is_the_checks_fault(solution):
    with pytest.raises(LaneBroken, match="sm_12345"):
        solution.at("add").add.compiled(X, Y, target="sm_12345")


# ---- what goes wrong, in a submission of one file with many functions


WRONG = """
@triton.jit
def unmasked(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at))


@triton.jit
def first_line(x_ptr, BLOCK: tl.constexpr):
    raise NotImplementedError("write me")


@triton.jit
def in_place(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2 * tl.load(x_ptr + at))


@triton.jit
def stops(x_ptr, BLOCK: tl.constexpr):
    breakpoint()
    tl.store(x_ptr + tl.arange(0, BLOCK), 0)


def add(x, y):
    what = int(y)
    if what == 0:
        out = torch.empty_like(x)
        unmasked[(2,)](x, out, BLOCK=64)
        return out
    if what == 1:
        first_line[(1,)](x, BLOCK=4)
        return x
    if what == 2:
        in_place[(1,)](x, BLOCK=4)
        return x
    if what == 3:
        return x.reshape(7, 7)
    if what == 4:
        try:
            unmasked[(2,)](x, torch.empty_like(x), BLOCK=64)
        except Exception:
            pass
        return x + 1
    if what == 5:
        torch.empty(3, device="cuda")
    if what == 6:
        raise SystemExit(3)
    if what == 7:
        return torch.sum
    if what == 8:
        told = os.environ["TRITON_INTERPRET"]
        add_kernel[(2,)](x, x, torch.empty_like(x), x.numel(), BLOCK=64)  # a call earns nothing without one
        return told
    if what == 9:
        stops[(1,)](torch.empty_like(x), BLOCK=4)
"""


@pytest.fixture(scope="module")
def wrong(tmp_path_factory, staged, kernel_spec, with_assignment) -> Iterator[Worked]:
    root = tmp_path_factory.mktemp("wrong")
    (root / "kernel_kit").mkdir()
    text = "import os\n" + SOLUTION + WRONG
    (root / "kernel_kit" / "vector.py").write_text(text, encoding="utf-8")
    runner = SandboxedRunner(staged, root, {"kernel_kit": kernel_spec}, "process")
    yield Worked(Submission(runner))
    runner.close()


def test_an_access_beyond_the_end_is_a_finding_with_its_line(wrong):
    fault = wrong.fault("add", X, 0)
    assert isinstance(fault, KernelFinding)
    assert fault.symptom == "kernel.out_of_bounds_load"
    assert "kernel_kit/vector.py" in fault.message
    assert "tl.load(x_ptr + at)" in fault.message
    assert fault.hidden_message.startswith("the kernel unmasked loads from outside of a tensor")


def test_a_finding_that_the_student_swallows_is_one_all_the_same(wrong):
    assert wrong.fault("add", X, 4).symptom == "kernel.out_of_bounds_load"


def test_a_stub_inside_a_kernel_is_still_to_be_written(wrong):
    assert isinstance(wrong.fault("add", X, 1), Todo)
    assert isinstance(wrong.fault("add", X, 1, verb="compiled"), Todo)


def test_a_breakpoint_left_in_a_kernel_is_named(wrong):
    fault = wrong.fault("add", X, 9)
    assert fault.symptom == "kernel.not_triton"
    assert "`breakpoint` is for your own desk: take it out before you hand in" in fault.message


def test_a_changed_input_is_a_finding_unless_it_may_be_changed(wrong):
    assert wrong.fault("add", X, 2).symptom == "kernel.modified_input"
    changed = wrong.at("add").add.metered(X[:4], 2, may_modify=("x",)).value
    assert torch.equal(changed, 2 * X[:4])


def test_what_the_host_code_raises_has_its_place(wrong):
    fault = wrong.fault("add", X, 3)
    assert isinstance(fault, Raised)
    assert "RuntimeError" in fault.message
    assert "return x.reshape(7, 7)" in fault.message
    assert "reshape" not in fault.hidden_message


def test_a_hard_coded_device_is_told_so(wrong):
    assert "cuda" in wrong.fault("add", X, 5).message


def test_ending_the_process_from_a_call_is_the_students_doing(wrong):
    assert "SystemExit" in wrong.fault("add", X, 6).message


def test_a_value_that_cannot_be_sent_is_told_so(wrong):
    assert "cannot be sent" in wrong.fault("add", X, 7).message


def test_each_lane_has_the_environment_that_it_needs(wrong):
    assert wrong.at("add").add(X, 8) == "1"
    assert "KeyError" in wrong.fault("add", X, 8, verb="compiled").message


# ---- tampering


ATTACKS = {
    "the interpreter's own load": (
        "from triton.runtime import interpreter as i\n"
        "b = type(i.interpreter_builder)\n"
        "b.create_masked_load = lambda *a, **k: None\n"
    ),
    "the recorder's call": "worker('kernels.recorder').call_recorded = lambda *a, **k: None\n",
    "a model": "worker('kernels.evidence').Launch.model_dump = lambda self: {}\n",
    "the lane": "worker('lanes').as_json = lambda *a: b'{}'\n",
    "the wire": "worker('encoding').encode.__code__ = (lambda value: (None, [])).__code__\n",
    "the seal": (
        "worker('seal').SealedPackage.changed = lambda self: False\n"
        "worker('seal')._replaced = lambda *a: False\n"
        "worker('kernels.recorder').call_recorded = None\n"
    ),
    "a module": "import types\nsys.modules['_rooflab_worker.kernels.recorder.launches'] = types.ModuleType('x')\n",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_changed_meter_is_an_integrity_finding(tmp_path, staged, kernel_spec, with_assignment, name):
    (tmp_path / "kernel_kit").mkdir()
    attack = f"import sys\nworker = lambda name: sys.modules['_rooflab_worker.' + name]\n{ATTACKS[name]}"
    (tmp_path / "kernel_kit" / "vector.py").write_text(f"{SOLUTION}\n{attack}", encoding="utf-8")
    runner = SandboxedRunner(staged, tmp_path, {"kernel_kit": kernel_spec}, "process")
    try:
        fault = Worked(Submission(runner)).fault("add", X, Y)
    finally:
        runner.close()
    assert isinstance(fault, Tampered)


# ---- where triton is missing


def test_without_triton_the_exercise_is_pending_and_says_so(monkeypatch, kernel_spec, with_assignment):
    found = __import__("importlib").util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "triton" else found(name))
    with closing(LocalRunner(KIT / "solutions")) as runner:
        submission = Submission(runner)
        with pytest.raises(NeedsTriton, match="needs triton, which is not installed here: pip install"):
            submission.begin_check("kernel_kit.add")
        submission.begin_check("kernel_kit.row_sums")
        assert submission.kernel_kit.row_sums(X.reshape(10, 10)).shape == (10,)


def test_on_another_system_it_says_that_linux_is_needed(monkeypatch, with_assignment):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(NeedsTriton, match="needs Linux"):
        Submission(LocalRunner(KIT / "solutions")).begin_check("kernel_kit.add")


def test_a_triton_that_cannot_be_mended_is_told_once_and_pending(tmp_path, kernel_spec, with_assignment):
    view = stage(installed_specs(), tmp_path)
    broken = view / "_rooflab_worker" / "kernels" / "recorder" / "__init__.py"
    broken.write_text(
        "from ..faults import UnsupportedTriton\n\n\ndef install():\n"
        "    raise UnsupportedTriton('triton 2.0 is too old: pip install triton==3.7.1')\n"
    )
    runner = SandboxedRunner(view, KIT / "solutions", {"kernel_kit": kernel_spec}, "process")
    try:
        worked = Worked(Submission(runner))
        faults = [worked.fault("add", X, Y), worked.fault("add", X, Y)]
    finally:
        runner.close()
    assert all(isinstance(fault, NeedsTriton) for fault in faults)
    assert "triton 2.0 is too old: pip install triton==3.7.1" in faults[0].message


def test_what_needs_a_gpu_is_pending(tmp_path, staged, kernel_spec, with_assignment):
    (tmp_path / "kernel_kit").mkdir()
    ending = "def add(x, y):\n    raise NeedsGpu('inline PTX at line 3')\n"
    text = f"{SOLUTION}\n\nfrom _rooflab_worker.kernels.faults import NeedsGpu\n\n\n{ending}"
    (tmp_path / "kernel_kit" / "vector.py").write_text(text, encoding="utf-8")
    runner = SandboxedRunner(staged, tmp_path, {"kernel_kit": kernel_spec}, "process")
    try:
        fault = Worked(Submission(runner)).fault("add", X, Y)
    finally:
        runner.close()
    assert isinstance(fault, NeedsGpu)
    assert "inline PTX" in fault.message
    assert "PTX" not in fault.hidden_message
