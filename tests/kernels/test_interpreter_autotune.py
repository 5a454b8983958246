"""Autotuned kernels under the mended interpreter: all configs run, on the same inputs, and have to agree."""

import pytest
import torch
import triton
import triton.language as tl

from grader.kernels import interpreter
from grader.kernels.faults import KernelFault
from tests.kernels._interpreted import interpreted

seen = []


def note(arguments, reset_only=False):
    seen.append(interpreter.current_config())


def configs(*blocks, **options):
    return [triton.Config({"BLOCK": block}, num_warps=2, **options) for block in blocks]


@triton.autotune(configs=configs(16, 32, 64, pre_hook=note), key=["size"])
@triton.jit
def doubling_kernel(source, target, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + at, tl.load(source + at, mask=at < size) * 2, mask=at < size)


@triton.autotune(configs=configs(16, 32), key=["size"])
@triton.jit
def first_tile_kernel(source, target, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(target + at, tl.load(source + at, mask=at < size), mask=at < size)


@triton.autotune(configs=configs(16, 32), key=["size"])
@triton.jit
def nan_kernel(target, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    value = tl.full((16,), 1.0, tl.float32)
    if BLOCK == 32:
        value = value + float("nan")
    tl.store(target + at, value)


@triton.autotune(configs=configs(16, 32), key=["size"])
@triton.jit
def careless_sum_kernel(source, total, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(source + at, mask=at < size, other=0.0)))


@triton.autotune(configs=configs(16, 32), key=["size"], reset_to_zero=["total"])
@triton.jit
def zeroed_sum_kernel(source, total, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(source + at, mask=at < size, other=0.0)))


@triton.autotune(configs=configs(16, 32), key=["size"], restore_value=["x"])
@triton.jit
def in_place_kernel(x, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < size) + 1, mask=at < size)


@triton.autotune(configs=configs(16, 32, 64), key=["size"])
@triton.jit
def asserting_kernel(target, size, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 16, "too small")
    tl.store(target + tl.arange(0, BLOCK), 3.0, mask=tl.arange(0, BLOCK) < size)


@triton.autotune(
    configs=configs(16, 32, 64, pre_hook=note),
    key=["size"],
    prune_configs_by={"early_config_prune": lambda configs, named, **_: configs[1:]},
)
@triton.jit
def pruned_kernel(target, size, BLOCK: tl.constexpr):
    tl.store(target + tl.arange(0, BLOCK), 3.0, mask=tl.arange(0, BLOCK) < size)


@triton.autotune(configs=configs(16, 32), key=["size"])
@triton.heuristics({"EVEN": lambda arguments: arguments["size"] % arguments["BLOCK"] == 0})
@triton.jit
def heuristic_kernel(source, target, size, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(target + at, tl.load(source + at))
    else:
        tl.store(target + at, tl.load(source + at, mask=at < size), mask=at < size)


@triton.heuristics({"BLOCK": lambda arguments: triton.next_power_of_2(arguments["size"])})
@triton.jit
def plain_heuristic_kernel(target, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(target + at, at, mask=at < size)


def grid(size):
    return lambda meta: (triton.cdiv(size, meta["BLOCK"]),)


def finding(function):
    with pytest.raises(KernelFault) as caught:
        function()
    assert caught.value.finding.kind == "configs_disagree"
    return caught.value.finding


@interpreted
def test_every_config_runs_and_says_which_it_is():
    """Three configs; none outside the tuner."""
    interpreter.install()
    seen.clear()
    x, y = torch.randn(64), torch.zeros(64)
    doubling_kernel[grid(64)](x, y, 64)
    assert torch.equal(y, x * 2)
    assert [(index, count, values["BLOCK"]) for index, count, values in seen] == [
        (0, 3, 16),
        (1, 3, 32),
        (2, 3, 64),
    ]
    assert seen[0][2]["num_warps"] == 2
    assert interpreter.current_config() is None


@interpreted
def test_a_second_call_alike_runs_the_first_config_only():
    """As the tuner's cache would have it; another shape runs all again."""
    interpreter.install()
    for size, expected in ((48, 3), (48, 1), (47, 3)):
        seen.clear()
        x, y = torch.randn(size), torch.zeros(size)
        doubling_kernel[grid(size)](x, y, size)
        assert torch.equal(y, x * 2)
        assert len(seen) == expected


@interpreted
def test_configs_that_differ_are_both_named():
    """One of them covers half of the data."""
    interpreter.install()
    found = finding(lambda: first_tile_kernel[(1,)](torch.ones(32), torch.zeros(32), 32))
    assert "BLOCK=16 and BLOCK=32" in found.message
    assert found.tensor == "target"
    assert found.kernel == "first_tile_kernel"


@interpreted
def test_a_config_that_gives_nan_disagrees():
    """NaN in one of them only."""
    interpreter.install()
    found = finding(lambda: nan_kernel[(1,)](torch.zeros(16), 16))
    assert "NaN or inf in one of them" in found.message


@interpreted
def test_a_sum_onto_what_was_there_is_found():
    """A tuner runs the kernel many times: without reset_to_zero the total grows."""
    interpreter.install()
    found = finding(lambda: careless_sum_kernel[grid(64)](torch.ones(64), torch.zeros(1), 64))
    assert 'reset_to_zero=["total"]' in found.message


@interpreted
def test_reset_to_zero_is_honoured():
    """Whatever was in the total before."""
    interpreter.install()
    total = torch.full((1,), 7.0)
    zeroed_sum_kernel[grid(64)](torch.ones(64), total, 64)
    assert total.item() == 64.0


@interpreted
def test_restore_value_is_honoured():
    """Updated in place once, though two configs ran."""
    interpreter.install()
    x = torch.ones(64)
    in_place_kernel[grid(64)](x, 64)
    assert x.tolist() == [2.0] * 64


@interpreted
def test_a_config_refused_by_static_assert_is_left_out():
    """As a tuner leaves it out."""
    interpreter.install()
    y = torch.zeros(64)
    asserting_kernel[(1,)](y[:32], 32)
    assert y.tolist() == [3.0] * 32 + [0.0] * 32
    assert asserting_kernel.best_config.kwargs == {"BLOCK": 32}


@interpreted
def test_pruning_is_honoured():
    """early_config_prune drops the first of three."""
    interpreter.install()
    seen.clear()
    pruned_kernel[(1,)](torch.zeros(16), 16)
    assert [(index, count, values["BLOCK"]) for index, count, values in seen] == [(0, 2, 32), (1, 2, 64)]


@pytest.mark.parametrize("size", [64, 40])
@interpreted
def test_heuristics_see_each_config(size):
    """Inside an autotuner."""
    interpreter.install()
    x, y = torch.randn(size), torch.zeros(size)
    heuristic_kernel[grid(size)](x, y, size)
    assert torch.equal(x, y)


@interpreted
def test_heuristics_alone_work():
    """Without an autotuner."""
    interpreter.install()
    y = torch.zeros(20, dtype=torch.int32)
    plain_heuristic_kernel[(1,)](y, 20)
    assert y.tolist() == list(range(20))
