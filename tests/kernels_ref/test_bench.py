"""The bench measures what it says: simulated clock and device, as no GPU number may be invented."""

import itertools
import json
from types import SimpleNamespace

import pytest
import torch

from kernels_ref.bench import __main__ as bench
from kernels_ref.bench import measure as measuring
from kernels_ref.bench.cases import LENGTHS, TOKENS, Case, all_cases, speed_of_light
from kernels_ref.bench.clock import WARM_UP_ROUNDS, take_turns, timing
from kernels_ref.bench.contenders import Absent, contenders, naive
from kernels_ref.naive import attention
from specs import gpu

SMALL = Case(1, 2, 24, 24, 16, True, "forward")
FINGERPRINT = {"gpu": "NVIDIA H100 80GB HBM3", "torch": "none", "triton": "none", "note": "simulated"}


class Simulated:
    """Runs the call, and says that it took 1 ms, 2 ms, 3 ms, 1 ms, ..."""

    def __init__(self):
        self.seconds = itertools.cycle((1e-3, 2e-3, 3e-3))

    def time(self, call):
        call()
        return next(self.seconds)


def test_contenders_are_timed_in_turns_and_warm_up_does_not_count():
    """So that a clock that drifts is met by all alike."""
    order = []
    calls = {"a": lambda: order.append("a"), "b": lambda: order.append("b")}
    numbers = itertools.count()
    taken = take_turns(calls, SimpleNamespace(time=lambda call: (call(), next(numbers))[1]), rounds=2)
    assert order == ["a", "b"] * (WARM_UP_ROUNDS + 2)
    first = 2 * WARM_UP_ROUNDS
    assert taken["a"].median_s == first + 1
    assert taken["b"].median_s == first + 2


def test_the_interval_holds_the_median_and_shrinks_with_more_rounds():
    """Percentile bootstrap of the median; the same times give the same interval."""
    generator = torch.Generator().manual_seed(0)
    times = (1 + torch.rand(400, generator=generator)).tolist()
    few, many = timing(times[:20]), timing(times)
    assert few.low_s < few.median_s < few.high_s
    assert many.high_s - many.low_s < (few.high_s - few.low_s) / 2
    assert timing(times) == many
    with pytest.raises(ValueError, match="at least one round"):
        timing([])


def test_the_shapes_are_those_of_the_papers():
    """16k tokens, H·D = 2048, T from 512 to 16k, each with both masks and in both directions."""
    cases = list(all_cases())
    square = [each for each in cases if each.queries == each.keys]
    assert len(square) == len(set(square)) == 2 * 3 * 2 * len(LENGTHS)
    assert {each.batch * each.queries for each in square} == {TOKENS}
    assert {each.heads * each.width for each in cases} == {2048}
    assert any(each.queries != each.keys and each.causal for each in cases)


def test_flops_follow_the_named_convention():
    """4·B·H·T²·D, half of it causal, backward 2.5 times; keys before the queries are all seen."""
    full = Case(2, 3, 512, 512, 64, False, "forward")
    assert full.flops == 4 * 2 * 3 * 512**2 * 64
    assert full._replace(causal=True).flops == full.flops / 2
    assert full._replace(direction="backward").flops == 2.5 * full.flops
    assert full._replace(keys=1024, causal=True).pairs == 512 * 512 + 512**2 / 2
    assert full._replace(queries=1024, causal=True).pairs == 512**2 / 2


def test_speed_of_light_is_the_slowest_unit():
    """An H100 at T 4096, D 128: 0.55 TFLOP at 989.4 TFLOP/s; at T 512 causal the bytes take longer."""
    long = Case(4, 16, 4096, 4096, 128, False, "forward")
    light = speed_of_light(long, gpu("h100-sxm"))
    assert light.limited_by == "tensor"
    assert light.time_s == pytest.approx(4 * 4 * 16 * 4096**2 * 128 / 989.4e12)
    short = Case(32, 16, 512, 512, 128, True, "forward")
    light = speed_of_light(short, gpu("h100-sxm"))
    assert light.limited_by == "HBM"
    assert light.time_s == pytest.approx((4 * 32 * 16 * 512 * 128 * 2 + 32 * 16 * 512 * 4) / 3350e9)


def test_wrong_and_failing_contenders_are_named_and_not_timed():
    """A result that is off, NaN, or never comes has no time; the others have ratios to the fastest."""

    def refuses(q, k, v, causal):
        raise RuntimeError("no such mask\nand more")

    calls_left = iter(range(2))

    def runs_out(*given):
        if next(calls_left, None) is None:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return naive(*given)

    named = {
        "right": naive,
        "also right": lambda *given: naive(*given),
        "no mask": lambda q, k, v, causal: naive(q, k, v, False),
        "NaN": lambda *given: naive(*given) * torch.nan,
        "refuses": refuses,
        "runs out": runs_out,
        "missing": Absent("it is not installed"),
    }
    rows = measuring.measure(SMALL, named, Simulated(), gpu("h100-sxm"), device="cpu", rounds=3)
    by_name = {row.contender: row for row in rows}
    assert list(by_name) == list(named)
    assert by_name["no mask"].absent.startswith("wrong result: relative error")
    assert by_name["NaN"].absent == "wrong result: relative error nan"
    assert by_name["refuses"].absent == "RuntimeError: no such mask"
    assert by_name["runs out"].absent == "out of memory"
    assert by_name["missing"].absent == "it is not installed"
    assert {name for name, row in by_name.items() if row.median_s} == {"right", "also right"}
    assert min(by_name["right"].to_fastest, by_name["also right"].to_fastest) == 1
    light = speed_of_light(SMALL, gpu("h100-sxm")).time_s
    assert by_name["right"].of_light == pytest.approx(light / by_name["right"].median_s)
    assert by_name["right"].tflops == pytest.approx(SMALL.flops / by_name["right"].median_s / 1e12)


def test_the_backward_is_timed_and_judged_by_all_three_gradients():
    """A contender whose dk alone is wrong is not timed."""

    def wrong_key_gradient(q, k, v, causal):
        return naive(q, k.detach() + (k - k.detach()) * 2, v, causal)

    case = SMALL._replace(direction="backward")
    named = {"right": naive, "dk doubled": wrong_key_gradient}
    right, wrong = measuring.measure(case, named, Simulated(), None, device="cpu", rounds=3)
    assert right.median_s > 0
    assert right.of_light is None
    assert wrong.absent == "wrong result: relative error 1"


def test_pytorchs_backends_get_the_bottom_right_mask():
    """With 5 queries on 9 keys `is_causal` alone would align top-left. The math backend runs on a CPU too."""
    generator = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(1, 2, length, 16, generator=generator) for length in (5, 9, 9))
    function = dict(contenders(None))["sdpa math"]
    expected, _ = attention(q, k, v, causal=True)
    torch.testing.assert_close(function(q, k, v, True), expected)


def test_a_solution_is_imported_by_path_with_its_siblings(tmp_path, monkeypatch):
    """flash_forward without a gradient, FlashAttention with one; a folder without them is said to have none."""
    (tmp_path / "forward.py").write_text(
        "def flash_forward(q, k, v, is_causal=False):\n    return q + is_causal, None\n"
    )
    (tmp_path / "backward.py").write_text(
        "from .forward import flash_forward\n\n\nclass FlashAttention:\n"
        "    apply = staticmethod(lambda q, k, v, causal: 2 * flash_forward(q, k, v, causal)[0])\n"
    )
    for name in ("", ".forward", ".backward"):
        monkeypatch.delitem(__import__("sys").modules, f"_bench_solution{name}", raising=False)
    function = dict(contenders(tmp_path))["solution"]
    x = torch.ones(1)
    assert function(x, x, x, True).item() == 2
    assert function(x.requires_grad_(), x, x, True).item() == 4
    assert "no --solutions" in str(dict(contenders(None))["solution"])


def test_a_run_writes_json_with_its_fingerprint_and_charts(tmp_path, monkeypatch, capsys):
    """Simulated from end to end on the CPU: every number in the files comes from the clock that was given."""
    cases = [SMALL._replace(width=64), SMALL._replace(width=64, direction="backward")]
    monkeypatch.setattr(bench, "all_cases", lambda: iter(cases))
    monkeypatch.setattr(bench, "fingerprint", lambda: FINGERPRINT)
    monkeypatch.setattr(
        bench, "contenders", lambda folder: iter([("naive", naive), ("other", Absent("not here"))])
    )
    assert bench.run(None, tmp_path, Simulated(), 3, "", device="cpu") == 0
    written = json.loads((tmp_path / "bench.json").read_text())
    assert written["fingerprint"] == FINGERPRINT
    assert "2.5" in written["convention"]
    assert [row["median_s"] for row in written["rows"]] == [2e-3, 0.0, 2e-3, 0.0]
    assert written["rows"][0]["case"]["causal"] is True
    assert (tmp_path / "forward.png").stat().st_size > 10_000
    assert (tmp_path / "backward.png").stat().st_size > 10_000
    printed = capsys.readouterr().out
    assert "2.000" in printed
    assert "not here" in printed


def test_only_refuses_a_text_that_no_case_has(tmp_path, capsys):
    """And shows what a label looks like."""
    assert bench.run(None, tmp_path, Simulated(), 3, "sideways", device="cpu") == 2
    assert "forward full D 64 T 512" in capsys.readouterr().err


def test_without_a_gpu_it_says_so_and_prints_no_time(monkeypatch, capsys):
    """Least times by data sheet, for each GPU and shape, and each config's registers and shared memory."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert bench.main([]) == 0
    printed = capsys.readouterr().out
    assert "nothing is timed" in printed
    assert "h100-sxm        0.556 tensor" in printed
    assert "D 128 T 16384" in printed
    assert "flash_dkdv" in printed
    assert "TFLOP/s" not in printed
    assert bench.main(["--gpu", "h1000"]) == 2
    assert "h100-sxm" in capsys.readouterr().err
