"""Properties of the reference roofline that hold for any card, format and operation."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.checks.mistakes import load_solution
from specs import Cost, Gpu
from tests.drawn import DRAWN

SOLUTIONS = Path(__file__).parents[2] / "solutions"
roofline = load_solution(SOLUTIONS, "roofline", "roofline.py")
costs = load_solution(SOLUTIONS, "roofline", "costs.py")

quiet = settings(DRAWN, max_examples=50)

# Whole TFLOP/s and GB/s, and counts below 2^53: every number here is exact in a float, so that operations at
# the ridge are exactly there, whichever way the two bills are compared.
TFLOPS = st.integers(1, 9000)
GB_PER_S = st.integers(1, 9000)
COUNTS = st.integers(0, 10**12)
SIZES = st.integers(1, 4096)


def card(tflops: float, gb_per_s: float) -> Gpu:
    """A card of which only the rates matter, at twice the rate in fp8."""
    return Gpu(
        name="any card",
        dense_tflops={"bf16": tflops, "fp8": 2 * tflops},
        memory_label_gb=16,
        memory_bytes=16_000_000_000,
        memory_bytes_status="estimated",
        hbm_gb_per_s=gb_per_s,
    )


@quiet
@given(TFLOPS, GB_PER_S, st.integers(1, 10**5), st.floats(0, 1), st.sampled_from(("bf16", "fp8")))
def test_the_bound_flips_exactly_at_the_ridge(
    tflops: int, gb_per_s: int, moved: int, read: float, dtype: str
) -> None:
    """One FLOP less than at the ridge is bound by memory; as many, or one more, is bound by compute."""
    gpu = card(tflops, gb_per_s)
    rate = tflops if dtype == "bf16" else 2 * tflops
    at_the_ridge = rate * 1000 * moved  # rate · 1e12 FLOP/s over gb_per_s · 1e9 bytes a second
    bytes_moved = gb_per_s * moved
    bytes_read = int(bytes_moved * read)
    bounds = [
        roofline.bound(
            Cost(flops=flops, bytes_read=bytes_read, bytes_written=bytes_moved - bytes_read), gpu, dtype
        )
        for flops in (at_the_ridge - 1, at_the_ridge, at_the_ridge + 1)
    ]
    assert bounds == ["memory", "compute", "compute"]


@quiet
@given(TFLOPS, GB_PER_S, COUNTS, COUNTS, COUNTS, st.sampled_from((0.25, 0.5, 2, 3, 10)))
def test_scaling_all_rates_by_c_scales_the_time_by_1_over_c(
    tflops: int, gb_per_s: int, flops: int, read: int, written: int, factor: float
) -> None:
    """A card that is c times faster at everything takes 1/c of the time, with the same bound and ridge."""
    cost = Cost(flops=flops, bytes_read=read, bytes_written=written)
    slow, fast = card(tflops, gb_per_s), card(tflops * factor, gb_per_s * factor)
    slow_s, fast_s = roofline.time_s(cost, slow, "bf16"), roofline.time_s(cost, fast, "bf16")
    assert math.isclose(slow_s, factor * fast_s, rel_tol=1e-12)
    assert math.isclose(roofline.ridge_point(slow, "bf16"), roofline.ridge_point(fast, "bf16"), rel_tol=1e-12)


@quiet
@given(TFLOPS, GB_PER_S, COUNTS, COUNTS, COUNTS, COUNTS)
def test_time_is_monotone_in_flops_and_in_bytes(
    tflops: int, gb_per_s: int, flops: int, read: int, written: int, more: int
) -> None:
    """More FLOPs, more bytes read or more bytes written never take less time."""
    gpu = card(tflops, gb_per_s)
    cost = Cost(flops=flops, bytes_read=read, bytes_written=written)
    before_s = roofline.time_s(cost, gpu, "bf16")
    for field in ("flops", "bytes_read", "bytes_written"):
        larger = cost.model_copy(update={field: getattr(cost, field) + more})
        assert roofline.time_s(larger, gpu, "bf16") >= before_s


@quiet
@given(TFLOPS, GB_PER_S, SIZES, SIZES, SIZES, SIZES)
def test_a_matmuls_time_is_monotone_in_every_dimension(
    tflops: int, gb_per_s: int, m: int, n: int, k: int, more: int
) -> None:
    """A matmul that is larger in one dimension never takes less time."""
    gpu = card(tflops, gb_per_s)
    sizes = {"m": m, "n": n, "k": k}
    before_s = roofline.time_s(costs.matmul_cost(**sizes, dtype="bf16"), gpu, "bf16")
    for name, size in sizes.items():
        larger = costs.matmul_cost(**{**sizes, name: size + more}, dtype="bf16")
        assert roofline.time_s(larger, gpu, "bf16") >= before_s


@quiet
@given(TFLOPS, GB_PER_S, COUNTS, COUNTS, COUNTS)
def test_time_and_roof_say_the_same(tflops: int, gb_per_s: int, flops: int, read: int, written: int) -> None:
    """FLOPs over the time are what the roof allows at the operation's intensity."""
    gpu = card(tflops, gb_per_s)
    cost = Cost(flops=flops + 1, bytes_read=read, bytes_written=written)
    roof = roofline.attainable_flops(roofline.arithmetic_intensity(cost), gpu, "bf16")
    assert math.isclose(cost.flops / roofline.time_s(cost, gpu, "bf16"), roof, rel_tol=1e-12)


@quiet
@given(TFLOPS, GB_PER_S, st.integers(1, 8192), st.integers(1, 8192), st.sampled_from(("bf16", "int8", "nf4")))
def test_a_layer_of_the_critical_batch_is_at_the_ridge(
    tflops: int, gb_per_s: int, inputs: int, outputs: int, weights: str
) -> None:
    """At the critical batch a layer's intensity is the ridge; where there is none, no batch gets there."""
    gpu = card(tflops, gb_per_s)
    ridge = roofline.ridge_point(gpu, "bf16")
    tokens = roofline.critical_batch(gpu, "bf16", weights, inputs, outputs)
    layer_of = min(tokens, 1e15)
    weight_bytes = {"bf16": 2, "int8": 1, "nf4": 0.5}[weights] * inputs * outputs
    layer = Cost(
        flops=2 * layer_of * inputs * outputs,
        bytes_read=weight_bytes + 2 * layer_of * inputs,
        bytes_written=2 * layer_of * outputs,
    )
    intensity = roofline.arithmetic_intensity(layer)
    if math.isinf(tokens):
        assert intensity <= ridge
    else:
        assert intensity == pytest.approx(ridge, rel=1e-9)
