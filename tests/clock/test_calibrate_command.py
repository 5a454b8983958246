"""`grader calibrate` on simulated cards whose truth is known: the row that it writes, and when it writes none."""

import contextlib
import itertools
import random
import sys

import pytest
import torch
import yaml

from grader.calls.faults import Raised
from grader.cli import main
from grader.clock import ceilings
from grader.clock.calibration import RUNS, measure
from grader.clock.cpu_host import CpuHost
from grader.clock.device import DeviceError, Throttle
from grader.clock.nvml import find_card
from grader.clock.nvml_host import NvmlHost
from grader.clock.simulated import SimulatedDevice
from grader.clock.workloads import AttentionWorkload, draw_pools, in_pytorch
from grader.commands import calibrate as command
from grader.commands.calibrate import row
from grader.kit import find_exercise, find_kit
from kernels_ref.timed import naive
from specs.timing import TimedShape, Timing
from tests.clock.fake_nvml import FakeNvml, fake_card
from tests.clock.worlds import PERFORMANCE, SHAPES, Episode, Truth

CEILINGS = (3000.0, 700.0)
RATIO = {"baseline": 1.0, "solution": 1.3, "naive": 9.0}


def card(name="NVIDIA H100 80GB HBM3"):
    return find_card(FakeNvml(fake_card(name)))


def simulated(quiet=True, **ratios):
    """Opens simulated cards on which everybody takes what `RATIO` says, or `ratios`."""
    seeds = itertools.count()

    @contextlib.contextmanager
    def opened(who, direction):
        noise = 1e-4 if quiet else 0.02
        yield SimulatedDevice(Truth(ratio={**RATIO, **ratios}[who], noise=noise), next(seeds))

    return opened


def found(open_side=None):
    return measure(PERFORMANCE, open_side or simulated(), random.Random(0), lambda _: None)


def test_everybody_s_ratio_the_baseline_s_time_and_the_empty_call_are_found():
    ratios = found()
    assert [each.shape for each in ratios.shapes] == [shape.label for shape in SHAPES]
    for each in ratios.shapes:
        assert each.baseline_s == pytest.approx(1.5e-3, rel=1e-2)
        assert each.solution_ratio == pytest.approx(1.3, rel=1e-2)
        assert each.naive_ratio == pytest.approx(9.0, rel=1e-2)
    assert ratios.empty_call_s == pytest.approx(3e-5, rel=1e-2)
    assert ratios.sm_clock_mhz == (1700, 1700)


def test_the_spread_is_that_of_several_runs_of_the_baseline_against_itself():
    asked = []
    plain = simulated(quiet=False)

    def counted(who, direction):
        asked.append((who, direction))
        return plain(who, direction)

    rough = found(counted)
    assert asked.count(("baseline", "forward")) == asked.count(("baseline", "backward")) == RUNS
    assert found().spread < rough.spread < 0.05


def test_the_row_can_be_pasted_into_the_spec_and_is_measured_there():
    text, problem = row("flash_attention.performance", PERFORMANCE, card(), "Ada", CEILINGS, found())
    assert problem == ""
    data = PERFORMANCE.model_dump(mode="json")
    data["thresholds"] |= yaml.safe_load(text)
    timing = Timing.model_validate(data)
    assert (timing.status("h100-sxm"), timing.status("h200-sxm")) == ("measured", "carried")
    record = timing.thresholds["h100-sxm"].measured
    assert (record.who, record.card, record.driver) == ("Ada", "NVIDIA H100 80GB HBM3", "0.0 (made up)")
    assert (record.copy_gb_per_s, record.bf16_tflops) == CEILINGS
    assert record.torch == torch.__version__.split("+")[0] or record.torch == torch.__version__


def test_a_card_without_a_row_gets_one_with_the_curve_of_another_and_says_so():
    text, problem = row(
        "flash_attention.performance", PERFORMANCE, card("NVIDIA L40S"), "Ada", CEILINGS, found()
    )
    assert problem == ""
    made = yaml.safe_load(text)["l40s"]
    assert made["full_ratio"] == PERFORMANCE.thresholds["h100-sxm"].full_ratio
    assert made["provenance"].startswith("as for h100-sxm: ")


@pytest.mark.parametrize(
    ("ratios", "words"),
    [({"solution": 1.7}, "the solution itself takes"), ({"naive": 2.5}, "a naive kernel takes 2.5")],
)
def test_a_card_that_does_not_bear_the_curve_out_is_told_and_its_numbers_are_written_all_the_same(
    ratios, words
):
    text, problem = row(
        "flash_attention.performance", PERFORMANCE, card(), "Ada", CEILINGS, found(simulated(**ratios))
    )
    assert words in problem
    assert len(yaml.safe_load(text)["h100-sxm"]["measured"]["shapes"]) == len(SHAPES)


class Full(SimulatedDevice):
    """A card on which the submission's side finds no memory."""

    def time_block(self, what, shape, calls):
        if what == "submission":
            raise Raised("flash_forward raised OutOfMemoryError: CUDA out of memory.")
        return super().time_block(what, shape, calls)


def test_naive_attention_that_does_not_fit_is_left_out_and_a_solution_that_does_not_is_an_error():
    def full(which):
        plain = simulated()

        @contextlib.contextmanager
        def opened(who, direction):
            if who == which:
                yield Full(Truth(), 0)
            else:
                with plain(who, direction) as device:
                    yield device

        return opened

    ratios = found(full("naive"))
    assert [each.naive_ratio for each in ratios.shapes] == [None] * len(SHAPES)
    assert row("x", PERFORMANCE, card(), "Ada", CEILINGS, ratios)[1] == ""
    with pytest.raises(Raised):
        found(full("solution"))


def test_a_card_that_throttles_throughout_gives_no_row():
    @contextlib.contextmanager
    def hot(who, direction):
        yield SimulatedDevice(Truth(episodes=(Episode(throttle=Throttle.HW_THERMAL),)), 0)

    with pytest.raises(DeviceError, match=r"0 of 64 measurements count, 16 are needed: .*too warm"):
        found(hot)


class Told:
    """A clock that says that every call took 10 µs."""

    def time(self, call):
        call()
        return 1e-5


def test_ceilings_count_what_a_copy_moves_and_a_matmul_multiplies():
    assert ceilings.copy_gb_per_s(Told(), "cpu", 1 << 16) == pytest.approx(2 * 65536 / 1e-5 / 1e9)
    assert ceilings.bf16_tflops(Told(), "cpu", 64) == pytest.approx(2 * 64**3 / 1e-5 / 1e12)


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_naive_attention_is_right_by_the_checks_of_a_timed_call(dtype, direction):
    shape = TimedShape(
        direction=direction, batch=2, heads=4, kv_heads=2, tokens=80, head_dim=32, causal=True, dtype=dtype
    )
    workload = AttentionWorkload(shape, draw_pools([shape], "cpu"), in_pytorch())
    call = workload.draw(random.Random(0))
    function = naive.flash_forward if direction == "forward" else naive.flash_backward
    from grader.worker import windows

    outputs = function(*call.inputs, shape.causal)
    workload.check(call, outputs, windows.sketch(outputs, call.judged_weights), "naive attention")


@pytest.mark.clock
def test_both_sides_of_a_run_are_the_kit_s_own_code_in_processes(tmp_path):
    """Naive attention against a baseline in PyTorch, on the cores of this machine; the times mean nothing."""
    spec, exercise = find_exercise("flash_attention.performance")
    shape = TimedShape(
        direction="forward", batch=1, heads=2, kv_heads=2, tokens=64, head_dim=16, causal=True, dtype="fp32"
    )
    timing = Timing(baseline="kernels_ref.timed.tiled", shapes=(shape,))
    small = exercise.model_copy(update={"timing": timing})
    with command._sides(find_kit(), CpuHost(), None, spec, small, tmp_path)("naive", "forward") as device:
        for what in ("baseline", "empty", "submission"):
            assert all(each > 0 for each in device.time_block(what, shape, 2))


def test_without_a_card_there_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(command, "find_card", lambda: None)
    monkeypatch.setattr(sys, "argv", ["grader", "calibrate"])
    with pytest.raises(SystemExit) as exit_:
        main()
    out, err = capsys.readouterr()
    assert (exit_.value.code, out, len(err.splitlines())) == (2, "", 1)
    assert "no GPU here, nothing is measured" in err


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (fake_card(processes=[4711]), "another process was on the GPU; grader doctor says more"),
        (fake_card(throttle=0x40), "throttled (too warm"),
        (fake_card(mig=1), "cut into slices"),
        (fake_card("NVIDIA H200 NVL"), "no card of specs/gpus.yaml"),
    ],
    ids=["neighbour", "warm", "slices", "unknown"],
)
def test_a_card_on_which_a_figure_would_mean_nothing_is_refused_in_one_line(
    found, said, monkeypatch, capsys, tmp_path
):
    nvml = FakeNvml(found)
    monkeypatch.setenv("ROOFLAB_GPU_LOCKS", str(tmp_path / "locks"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(command, "find_card", lambda: find_card(nvml))
    monkeypatch.setattr(
        command,
        "NvmlHost",
        lambda card, alone: NvmlHost(
            card, alone=alone, nvml=nvml, take=lambda _: lambda: None, unseen=lambda: ""
        ),
    )
    monkeypatch.setattr(sys, "argv", ["grader", "calibrate"])
    with pytest.raises(SystemExit) as exit_:
        main()
    out, err = capsys.readouterr()
    assert (exit_.value.code, out, len(err.splitlines())) == (2, "", 1)
    assert said in err
