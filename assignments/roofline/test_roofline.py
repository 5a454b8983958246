"""Visible checks of roofline.py: intensity, ridge, roof, time and bound, and the critical batch."""

import math

import pytest

from specs import Cost, Gpu, gpu

# A 2048³ matmul in bf16: 2·2048³ FLOPs; two matrices of 2048² read and one written, 2 bytes an element.
MATMUL_2048 = Cost(flops=17_179_869_184, bytes_read=16_777_216, bytes_written=8_388_608)


def card(name, hbm_gb_per_s, **dense_tflops):
    """A card of which only the rates matter."""
    return Gpu(
        name=name,
        dense_tflops=dense_tflops,
        memory_label_gb=16,
        memory_bytes=16_000_000_000,
        memory_bytes_status="estimated",
        hbm_gb_per_s=hbm_gb_per_s,
    )


# The scaling book's TPU v5e.
TPU_V5E = card("tpu-v5e", 820, bf16=197, int8=394)
# Round numbers: ridges at 200 FLOPs per byte in bf16, at 600 in int8 and at 50 in fp32.
ROUND = card("round card", 1000, bf16=200, int8=600, fp32=50)


@pytest.mark.exercise("roofline.roofline_model")
def test_intensity_counts_bytes_read_and_bytes_written(submission, expect):
    """A 2048³ matmul in bf16 does 683 FLOPs per byte, reads and writes together; adding vectors does 1/6."""
    costs = {
        "2048³ matmul": (MATMUL_2048, 2048 / 3),  # 2·2048³ / (3 · 2 · 2048²)
        "adding two bf16 vectors": (
            Cost(flops=1_000_000, bytes_read=4_000_000, bytes_written=2_000_000),
            1 / 6,
        ),
        "bf16 to fp32, scaled": (Cost(flops=3_000_000, bytes_read=2_000_000, bytes_written=4_000_000), 0.5),
    }
    got = {case: submission.roofline.arithmetic_intensity(cost) for case, (cost, _) in costs.items()}
    for case, (_, intensity) in costs.items():
        expect.number(got[case], intensity, unit="FLOP/B", case=case)


@pytest.mark.exercise("roofline.roofline_model")
def test_a_copy_has_intensity_0_and_what_moves_nothing_has_no_limit(submission, expect):
    """A copy has intensity 0; an operation that moves no byte has infinite intensity."""
    costs = {
        "a copy": (Cost(flops=0, bytes_read=512, bytes_written=512), 0.0),
        "FLOPs that move no byte": (Cost(flops=512, bytes_read=0, bytes_written=0), math.inf),
        "a reduction that writes nothing": (Cost(flops=512, bytes_read=1024, bytes_written=0), 0.5),
    }
    got = {case: submission.roofline.arithmetic_intensity(cost) for case, (cost, _) in costs.items()}
    for case, (_, intensity) in costs.items():
        expect.number(got[case], intensity, unit="FLOP/B", case=case)


@pytest.mark.exercise("roofline.roofline_model")
def test_ridges_of_real_cards(submission, expect):
    """The ridge of an H100 is at 295 FLOPs per byte in bf16, twice that in fp8, and at 20 in fp32."""
    # 989.4/3.35, 1978.9/3.35, 66.9/3.35, 312/2.039; 197/0.82 is 240 (the scaling book, chapter "Rooflines").
    cards = {
        "H100 SXM, bf16": ((gpu("h100-sxm"), "bf16"), 295.3432836),
        "H100 SXM, fp8": ((gpu("h100-sxm"), "fp8"), 590.7164179),
        "H100 SXM, fp32": ((gpu("h100-sxm"), "fp32"), 19.97014925),
        "A100 80 GB SXM, bf16": ((gpu("a100-sxm-80gb"), "bf16"), 153.0161844),
        "TPU v5e, bf16": ((TPU_V5E, "bf16"), 240.2439024),
    }
    got = {case: submission.roofline.ridge_point(*arguments) for case, (arguments, _) in cards.items()}
    for case, (_, ridge) in cards.items():
        expect.number(got[case], ridge, unit="FLOP/B", case=case, rel=1e-8)


@pytest.mark.exercise("roofline.roofline_model")
def test_the_roof_rises_to_the_ridge_and_is_flat_beyond(submission, expect):
    """Below the ridge bandwidth times intensity, above it the peak: 683 FLOPs per byte reach 989 TFLOP/s."""
    h100 = gpu("h100-sxm")
    roofs = {
        "683 FLOP/B on an H100": ((2048 / 3, h100, "bf16"), 989.4e12),
        "683 FLOP/B on an H100 in fp32": ((2048 / 3, h100, "fp32"), 66.9e12),
        "1/6 FLOP/B on an H100": ((1 / 6, h100, "bf16"), 3.35e12 / 6),
        "300 FLOP/B on an H100": ((300, h100, "bf16"), 989.4e12),
        "100 FLOP/B on the round card": ((100, ROUND, "bf16"), 100e12),
        "no byte moved on the round card": ((math.inf, ROUND, "bf16"), 200e12),
    }
    got = {case: submission.roofline.attainable_flops(*arguments) for case, (arguments, _) in roofs.items()}
    for case, (_, flops) in roofs.items():
        expect.number(got[case], flops, unit="FLOP/s", case=case)


@pytest.mark.exercise("roofline.roofline_model")
def test_the_longer_bill_is_the_time(submission, expect):
    """An operation takes as long as the longer of its two bills, FLOPs or bytes."""
    # On the round card in bf16: 200e12 FLOP/s, 1e12 bytes a second; in fp32 50e12 FLOP/s.
    costs = {
        "1 ms of FLOPs over 0.3 ms of bytes": (
            (Cost(flops=200e9, bytes_read=200e6, bytes_written=100e6), ROUND, "bf16"),
            1e-3,
        ),
        "0.1 ms of FLOPs under 0.7 ms of bytes": (
            (Cost(flops=20e9, bytes_read=300e6, bytes_written=400e6), ROUND, "bf16"),
            0.7e-3,
        ),
        "the same FLOPs and bytes in fp32": (
            (Cost(flops=100e9, bytes_read=300e6, bytes_written=400e6), ROUND, "fp32"),
            2e-3,
        ),
        "a copy": ((Cost(flops=0, bytes_read=2e9, bytes_written=2e9), ROUND, "bf16"), 4e-3),
        "2048³ matmul on an H100": ((MATMUL_2048, gpu("h100-sxm"), "bf16"), 17_179_869_184 / 989.4e12),
    }
    got = {case: submission.roofline.time_s(*arguments) for case, (arguments, _) in costs.items()}
    for case, (_, seconds) in costs.items():
        expect.number(got[case], seconds, unit="s", case=case)


@pytest.mark.exercise("roofline.roofline_model")
def test_at_the_ridge_an_operation_is_bound_by_compute(submission, expect):
    """Below the ridge memory bounds; above it, and exactly at it, compute does."""
    costs = {
        "just below the ridge": (Cost(flops=1999, bytes_read=6, bytes_written=4), "bf16", "memory"),
        "at the ridge": (Cost(flops=2000, bytes_read=6, bytes_written=4), "bf16", "compute"),
        "just above the ridge": (Cost(flops=2001, bytes_read=6, bytes_written=4), "bf16", "compute"),
        "at 1.5 times the ridge": (Cost(flops=3000, bytes_read=6, bytes_written=4), "bf16", "compute"),
        "at 0.6 of the ridge": (Cost(flops=1200, bytes_read=6, bytes_written=4), "bf16", "memory"),
        "at 0.6 of the bf16 ridge, in fp32": (
            Cost(flops=1200, bytes_read=6, bytes_written=4),
            "fp32",
            "compute",
        ),
        "no byte moved": (Cost(flops=1, bytes_read=0, bytes_written=0), "bf16", "compute"),
        "a copy": (Cost(flops=0, bytes_read=6, bytes_written=6), "bf16", "memory"),
    }
    got = {case: submission.roofline.bound(cost, ROUND, dtype) for case, (cost, dtype, _) in costs.items()}
    for case, (_, _, wanted) in costs.items():
        expect.equal(got[case], wanted, case=case)


def check_batches(submission, expect, wanted):
    """Every layer is asked for before the first is compared."""
    got = {case: submission.roofline.critical_batch(*arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, tokens) in wanted.items():
        expect.number(got[case], tokens, unit="tokens", case=case, rel=1e-8)


@pytest.mark.exercise("roofline.critical_batch", weight=2)
def test_a_wide_layer_needs_the_ridge_times_half_the_bytes_of_a_weight(submission, expect):
    """A wide bf16 layer needs as many tokens as the ridge; int8 weights halve that, 4-bit ones quarter it."""
    # Ridges of the round card: 200 in bf16, 600 in int8. B = ridge · bytes / 2.
    wanted = {
        "bf16 weights, bf16 arithmetic": ((ROUND, "bf16", "bf16"), 200.0),
        "int8 weights, bf16 arithmetic": ((ROUND, "bf16", "int8"), 100.0),
        "int8 weights, int8 arithmetic": ((ROUND, "int8", "int8"), 300.0),
        "nf4 weights, bf16 arithmetic": ((ROUND, "bf16", "nf4"), 50.0),
        "fp32 weights, fp32 arithmetic": ((ROUND, "fp32", "fp32"), 100.0),
    }
    check_batches(submission, expect, wanted)


@pytest.mark.exercise("roofline.critical_batch")
def test_the_scaling_books_critical_batches(submission, expect):
    """A TPU v5e needs 240 tokens in bf16 and 120 with int8 weights; an H100 needs 295."""
    # The scaling book, chapter "Rooflines", questions 1, 2 and 5: 197/0.82, half of it, 989/3.35.
    wanted = {
        "TPU v5e, bf16": ((TPU_V5E, "bf16", "bf16"), 240.2439024),
        "TPU v5e, int8 weights": ((TPU_V5E, "bf16", "int8"), 120.1219512),
        "H100 SXM, bf16": ((gpu("h100-sxm"), "bf16", "bf16"), 295.3432836),
        "H100 SXM, fp8": ((gpu("h100-sxm"), "fp8", "fp8"), 295.3582090),
    }
    check_batches(submission, expect, wanted)


@pytest.mark.exercise("roofline.critical_batch", weight=2)
def test_the_activations_of_a_narrow_layer_count(submission, expect):
    """The narrower a layer, the more tokens it needs: its activations move too, both in and out."""
    # Round card, bf16: 2·B·i·o = 200·(2·i·o + 2·B·(i + o)), so B = 400 / (2 - 400·(1/i + 1/o)).
    wanted = {
        "800 × 800": ((ROUND, "bf16", "bf16", 800, 800), 400.0),  # 400 / (2 - 1)
        "800 × 1600": ((ROUND, "bf16", "bf16", 800, 1600), 320.0),  # 400 / (2 - 0.75)
        "3200 × 800": ((ROUND, "bf16", "bf16", 3200, 800), 800 / 2.75),  # 400 / (2 - 0.625)
        "800 × 800, int8 weights": ((ROUND, "bf16", "int8", 800, 800), 200.0),  # 200 / (2 - 1)
        "800 × 800, int8 arithmetic": ((ROUND, "int8", "int8", 800, 800), 1200.0),  # 600 / (2 - 1.5)
    }
    check_batches(submission, expect, wanted)


@pytest.mark.exercise("roofline.critical_batch")
def test_a_layer_may_be_too_narrow_to_cross_at_all(submission, expect):
    """With few features in or out, no batch is large enough; narrower weights do not mend that."""
    # Round card, bf16: never, when 400·(1/i + 1/o) > 2. For 300 × 300 it is 2.67, for 210 × 2100 2.1.
    wanted = {
        "300 × 300": ((ROUND, "bf16", "bf16", 300, 300), math.inf),
        "210 × 2100": ((ROUND, "bf16", "nf4", 210, 2100), math.inf),
        "400 × 1600": ((ROUND, "bf16", "bf16", 400, 1600), 800 / 1.5),  # 400 / (2 - 1.25)
        "400 × 1600, nf4 weights": ((ROUND, "bf16", "nf4", 400, 1600), 200 / 1.5),
    }
    check_batches(submission, expect, wanted)
