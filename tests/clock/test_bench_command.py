"""`grader bench` with small shapes on the CPU and a clock that is told what each call took: nothing here is a time."""

import random
import sys
from dataclasses import replace

import pytest
import torch

from grader.calls.runner import LocalRunner
from grader.cli import main
from grader.clock.cpu_host import CPU_CLOCK, CpuHost
from grader.clock.device import Sample, Throttle
from grader.clock.grading import Plan
from grader.clock.in_process import InProcess, baseline, of_pytorch, of_submission
from grader.clock.nvml import find_card
from grader.clock.workloads import AttentionWorkload, draw_pools, in_pytorch
from grader.commands import bench as command
from grader.commands.bench import Bench, bound, placed, time_here
from grader.kit import find_exercise
from specs.gpu import gpu
from specs.timing import TimedShape, Timing
from tests.clock import told_clock
from tests.clock.fake_nvml import FakeNvml, fake_card
from tests.clock.worlds import SHAPES as GRADED
from tests.clock.worlds import Truth, graded

SMALL = {"batch": 2, "heads": 2, "kv_heads": 1, "tokens": 24, "head_dim": 16, "causal": True, "dtype": "fp32"}
SHAPES = tuple(TimedShape(direction=each, **SMALL) for each in ("forward", "backward"))
TIMING = Timing(baseline="tests.clock.told_clock", shapes=SHAPES)
PLAN = Plan(calls=1)
RIGHT = """
from tests.clock import told_clock

def {0}(*args):
    return told_clock.after(2.4e-3, "{0}", args)
"""
WRONG = """
from tests.clock import told_clock
seen = []

def {0}(*args):
    seen.append(0)
    found = told_clock.after(2.4e-3, "{0}", args)
    return found if len(seen) < 3 else tuple(x + 1 for x in found)
"""
RAISES = "def {0}(*args):\n    raise KeyError('T')\n"
STUB = "def {0}(*args):\n    raise NotImplementedError\n"


@pytest.fixture(autouse=True)
def _one_thread():
    """These tensors are so small that more threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Told(CpuHost):
    """Both its clocks are the told one."""

    throttle = 0

    def sample(self, ours):
        now_s = told_clock.now()
        return Sample(judge_s=now_s, witness_s=now_s, sm_clock_mhz=1, temperature_c=1, throttle=self.throttle)

    def flush(self):
        told_clock.forward(1e-4)


class Hot(Told):
    """A card that is too warm throughout."""

    throttle = int(Throttle.HW_THERMAL)


@pytest.fixture
def bench(tmp_path):
    """A submission made of one template."""

    def made(template, timing=TIMING):
        folder = tmp_path / "flash_attention"
        folder.mkdir(exist_ok=True)
        for file, name in (("forward.py", "flash_forward"), ("backward.py", "flash_backward")):
            (folder / file).write_text(template.format(name))
        spec, exercise = find_exercise("flash_attention.performance")
        return Bench(spec, exercise, timing, tmp_path)

    return made


def timed(made, out, host=None, plan=PLAN):
    return time_here(made, host or Told(), out, plan=plan, order=random.Random(0), clock=told_clock.now)


def test_a_kernel_is_shown_with_its_ratio_its_bound_and_a_picture(bench, tmp_path, capsys):
    assert timed(bench(RIGHT), tmp_path / "picture") == 0
    shown = capsys.readouterr().out
    for shape in SHAPES:
        row = next(line for line in shown.splitlines() if line.startswith(shape.label))
        assert "2.4 ms" in row
        assert "2 ms" in row
        assert "1.200" in row
        assert "1.200 to 1.200" in row
        assert "HBM, " in row
    assert "takes 1.200 to 1.200 times the baseline" in shown
    assert "no row of thresholds for cpu-clock" in shown
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    assert "forward" in (tmp_path / "picture.svg").read_text()


def test_a_kernel_that_is_wrong_in_one_timed_call_is_told_which(bench, tmp_path, capsys):
    assert timed(bench(WRONG), tmp_path / "picture") == 1
    assert "timed call 3 (forward" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (STUB, "still to be written"),
        (RAISES, "flash_forward raised KeyError: 'T' at flash_attention/forward.py, line 2"),
        ("import nothing_of_the_kind", "forward.py cannot be imported"),
    ],
)
def test_a_stub_is_still_to_be_written_and_what_raises_is_told(bench, capsys, template, said):
    assert timed(bench(template), None) == 1
    assert said in capsys.readouterr().out


def test_a_card_that_throttles_gives_no_result_and_says_so(bench, tmp_path, capsys):
    assert timed(bench(RIGHT), tmp_path / "picture", Hot(), PLAN.model_copy(update={"budget_s": 0.8})) == 1
    shown = capsys.readouterr().out
    assert "too warm" in shown
    assert "not known" in shown


def device(submission):
    order = random.Random(0)
    pools = draw_pools(SHAPES, "cpu")
    workloads = {each.label: AttentionWorkload(each, pools, in_pytorch()) for each in SHAPES}
    _, trusted = baseline(TIMING.baseline)
    return InProcess(Told(), workloads, trusted, submission, order, told_clock.now)


def test_each_side_takes_its_own_time_and_an_empty_call_none_of_it(bench):
    made = bench(RIGHT)
    sides = device(of_submission(LocalRunner(made.root), command._requests(made)))
    for shape in SHAPES:
        assert sides.time_block("submission", shape, 2) == pytest.approx([2.4e-3 + told_clock.TICK_S] * 2)
        assert sides.time_block("baseline", shape, 2) == pytest.approx([2e-3 + told_clock.TICK_S] * 2)
        assert sides.time_block("empty", shape, 2) == pytest.approx([told_clock.TICK_S] * 2)


def test_pytorch_stands_in_where_a_bundle_has_no_reference_kernel():
    name, side = baseline("kernels_ref.no_such_module")
    assert name == "PyTorch's attention"
    assert side is of_pytorch
    pytorch = device(of_pytorch)
    assert all(time_s > 0 for shape in SHAPES for time_s in pytorch.time_block("baseline", shape, 2))


def test_pytorch_s_gradient_is_that_of_the_timed_shape():
    workload = AttentionWorkload(SHAPES[1], draw_pools(SHAPES, "cpu"), in_pytorch())
    call = workload.draw(random.Random(1))
    found = of_pytorch(SHAPES[1], call)()
    for got, right in zip(found, workload._right(call), strict=True):
        assert torch.linalg.vector_norm(got - right) < 1e-4 * torch.linalg.vector_norm(right)


def test_answers_batch_by_batch_are_those_of_all_at_once():
    whole, apart = in_pytorch(), command._trusted(kernels=False)
    for shape in SHAPES:
        workload = AttentionWorkload(shape, draw_pools(SHAPES, "cpu"), whole)
        call = workload.draw(random.Random(2))
        function, same = (
            (whole.forward, apart.forward)
            if shape.direction == "forward"
            else (whole.backward, apart.backward)
        )
        for got, right in zip(same(*call.inputs, True), function(*call.inputs, True), strict=True):
            torch.testing.assert_close(got, right)


def test_a_long_row_is_bound_by_tensor_cores_and_a_short_one_by_memory():
    large = TimedShape(
        direction="forward",
        batch=4,
        heads=16,
        kv_heads=16,
        tokens=4096,
        head_dim=128,
        causal=False,
        dtype="bf16",
    )
    assert bound(large, gpu("h100-sxm"))[0] == "tensor cores"
    assert bound(large.model_copy(update={"tokens": 64}), gpu("h100-sxm"))[0] == "HBM"
    assert bound(large.model_copy(update={"head_dim": 32}), gpu("h100-sxm"))[0] == "exp"


def test_a_shape_without_a_time_has_no_place_in_the_picture():
    assert placed(GRADED[:1], graded(Truth(lost_at_s=0), shapes=GRADED[:1])) == []
    ops = placed(GRADED, graded(Truth(baseline_s=1e-3, ratio=1.0)))
    assert sum(op.share for op in ops) == pytest.approx(1)
    assert ops[0].flops_per_s == pytest.approx(GRADED[0].flops / 1e-3, rel=0.05)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no GPU here"),
        (("@",), "no GPU here"),
        (("@/none",), "no such folder"),
        (("@", "flash_attention.flash_forward"), "is not timed"),
        (("@", "nonsense"), "nonsense"),
    ],
)
def test_without_a_card_and_for_other_exercises_there_is_one_line(words, said, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(command, "find_card", lambda: None)
    monkeypatch.setattr(
        sys, "argv", ["grader", "bench", *(word.replace("@", str(tmp_path)) for word in words)]
    )
    with pytest.raises(SystemExit) as exit_:
        main()
    out, err = capsys.readouterr()
    assert (exit_.value.code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert said in err


def test_without_torch_or_triton_the_remedy_is_told(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(command, "find_card", lambda: find_card(FakeNvml(fake_card())))
    monkeypatch.setattr("grader.calls.runner.importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["grader", "bench", str(tmp_path)])
    with pytest.raises(SystemExit) as exit_:
        main()
    out, err = capsys.readouterr()
    assert (exit_.value.code, out, len(err.splitlines())) == (2, "", 1)
    assert "pip install" in err


def test_a_row_says_what_an_official_run_would_and_an_unmeasured_one_that_nobody_knows(
    bench, tmp_path, capsys
):
    row = {"full_ratio": 1.1, "zero_ratio": 3.0, "provenance": "made up"}
    timing = Timing(baseline=TIMING.baseline, shapes=SHAPES, thresholds={"h100-sxm": row})
    card = CPU_CLOCK.model_copy(update={"name": "h100-sxm"})
    assert timed(replace(bench(RIGHT), timing=timing), tmp_path / "picture", Told(card)) == 0
    shown = capsys.readouterr().out
    assert "which nobody measured yet, 0.91 to 0.91 of the points" in shown
    assert "they stay pending" in shown
