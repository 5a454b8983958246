"""Visible checks of efficiency.py: a run's MFU and an operation's efficiency, as a trace shows them."""

import pytest

from grader.checks.traced import kernel, step, twin
from specs import KernelEfficiency, TracedModel, gpu

GPT2 = TracedModel(parameters=123_532_032, layers=12, hidden=768, sequence=1024, tokens_per_step=8 * 1024)
WIDE = TracedModel(parameters=10**9, layers=10, hidden=4096, sequence=2048, tokens_per_step=4096)
US = 1000


def check_mfu(submission, expect, wanted):
    """Every trace is asked for before the first is compared."""
    got = {case: submission.profiling.achieved_mfu(*given) for case, (given, _) in wanted.items()}
    for case, (_, right) in wanted.items():
        expect.number(got[case], right, case=case)


@pytest.mark.exercise("profiling.achieved_mfu", weight=2)
def test_model_flops_over_what_the_card_could_do(submission, expect):
    """GPT-2 at 8 · 1024 tokens in 60 ms reaches 37.4 % of an A100: 7.0 TFLOP of 18.7."""
    # 6·123,532,032 + 12·12·768·1024 FLOPs a token; 6·10⁹ + 12·10·4096·2048 for the other.
    h100, a100 = gpu("h100-sxm"), gpu("a100-sxm-80gb")
    a_step = [step(1, 0, 60_000 * US), kernel("matmul", 1000 * US, 59_000 * US)]
    gpt2 = (6 * 123_532_032 + 12 * 12 * 768 * 1024) * 8192
    wide = (6 * 10**9 + 12 * 10 * 4096 * 2048) * 4096
    check_mfu(
        submission,
        expect,
        {
            "GPT-2, A100": ((a_step, GPT2, a100, "bf16"), gpt2 / 0.060 / 312e12),
            "1B, H100": ((a_step, WIDE, h100, "bf16"), wide / 0.060 / 989.4e12),
            "1B, H100, fp8": ((a_step, WIDE, h100, "fp8"), wide / 0.060 / h100.peak_flops("fp8")),
        },
    )


@pytest.mark.exercise("profiling.achieved_mfu")
def test_all_steps_count_and_so_do_the_gaps(submission, expect):
    """Three steps of 10 ms within 40 ms do three steps' work in 40 ms: gaps and idle time are on the clock."""
    card = gpu("h100-sxm")
    spread = [
        step(number, start * US, (start + 10_000) * US)
        for number, start in ((7, 30_000), (5, 0), (6, 12_000))
    ]
    busy = [kernel("matmul", 1000 * US, 5000 * US), kernel("matmul", 13_000 * US, 20_000 * US)]
    shadows = [twin(number, 0, 10_000 * US) for number in (5, 6, 7)]
    one = (6 * 123_532_032 + 12 * 12 * 768 * 1024) * 8192
    check_mfu(
        submission,
        expect,
        {
            "three steps": (([*spread, *busy, *shadows], GPT2, card, "bf16"), 3 * one / 0.040 / 989.4e12),
            "two of them": (([*spread[1:], *busy, *shadows], GPT2, card, "bf16"), 2 * one / 0.022 / 989.4e12),
        },
    )


def recorded(name, dims, types, dur):
    """An operation as record_shapes writes it."""
    return {
        "ph": "X",
        "cat": "cpu_op",
        "name": name,
        "pid": 1,
        "tid": 1,
        "ts": 10.0,
        "dur": dur,
        "args": {"Input Dims": dims, "Input type": types},
    }


def check_efficiency(submission, expect, wanted):
    """Every operation is asked for before the first is compared."""
    got = {case: submission.profiling.kernel_efficiency(*given) for case, (given, _) in wanted.items()}
    for case, (_, right) in wanted.items():
        expect.terms(got[case], right, case=case)


def efficiency(flops, moved, roofline_s, dur):
    """The right answer; `dur` in µs."""
    return KernelEfficiency(
        flops=flops, bytes_moved=moved, roofline_s=roofline_s, efficiency=roofline_s / (dur / 1e6)
    )


BF16, FP32, HALF = "c10::BFloat16", "float", "c10::Half"


@pytest.mark.exercise("profiling.kernel_efficiency", weight=2)
def test_a_large_matmul_is_held_against_the_peak(submission, expect):
    """4096³ in bf16 is 137 GFLOP: 139 µs at an H100's peak, so 200 µs are 69 %. In fp32 the peak is another."""
    card = gpu("h100-sxm")
    flops = 2 * 4096**3
    square = [[4096, 4096], [4096, 4096]]
    batched = [[8, 1024, 512], [8, 512, 2048]]
    batch_flops, batch_bytes = 8 * 2 * 1024 * 2048 * 512, 2 * 8 * (1024 * 512 + 512 * 2048 + 1024 * 2048)
    check_efficiency(
        submission,
        expect,
        {
            "mm, bf16": (
                (recorded("aten::mm", square, [BF16, BF16], 200.0), card),
                efficiency(flops, 3 * 4096**2 * 2, flops / 989.4e12, 200.0),
            ),
            "mm, fp32": (
                (recorded("aten::mm", square, [FP32, FP32], 3000.0), card),
                efficiency(flops, 3 * 4096**2 * 4, flops / card.peak_flops("fp32"), 3000.0),
            ),
            "bmm, fp16": (
                (recorded("aten::bmm", batched, [HALF, HALF], 40.0), card),
                efficiency(
                    batch_flops,
                    batch_bytes,
                    max(batch_flops / card.peak_flops("fp16"), batch_bytes / 3.35e12),
                    40.0,
                ),
            ),
        },
    )


@pytest.mark.exercise("profiling.kernel_efficiency", weight=2)
def test_one_row_is_held_against_the_bandwidth(submission, expect):
    """One row against 8192 × 8192 weights moves 134 MB: 40 µs of bandwidth, though it is 0.27 GFLOP."""
    card = gpu("h100-sxm")
    moved = 2 * (8192 + 8192**2 + 8192)
    # addmm adds a bias of n elements, and two scalars that are no tensors.
    dims, types = [[3072], [16, 768], [768, 3072], [], []], [BF16, BF16, BF16, "Scalar", "Scalar"]
    with_bias = 2 * (3072 + 16 * 768 + 768 * 3072 + 16 * 3072)
    check_efficiency(
        submission,
        expect,
        {
            "mm of one row": (
                (recorded("aten::mm", [[1, 8192], [8192, 8192]], [BF16, BF16], 50.0), card),
                efficiency(2 * 8192**2, moved, moved / 3.35e12, 50.0),
            ),
            "addmm with a bias": (
                (recorded("aten::addmm", dims, types, 4.0), card),
                efficiency(2 * 16 * 768 * 3072 + 16 * 3072, with_bias, with_bias / 3.35e12, 4.0),
            ),
        },
    )


@pytest.mark.exercise("profiling.kernel_efficiency", weight=2)
def test_operations_by_element_read_what_is_there(submission, expect):
    """Adding a row of 4096 to 1024 rows reads the row once; gelu reads one tensor and writes one."""
    card = gpu("a100-sxm-80gb")
    added = 4 * (1024 * 4096 + 4096 + 1024 * 4096)
    gelu = 2 * 2 * 32 * 1024 * 3072
    bandwidth = card.hbm_bytes_per_s
    by_one = 2 * (2 * 1000 * 1000 + 1)
    check_efficiency(
        submission,
        expect,
        {
            "add, a row to each row": (
                (recorded("aten::add", [[1024, 4096], [4096], []], [FP32, FP32, "Scalar"], 25.0), card),
                efficiency(1024 * 4096, added, added / bandwidth, 25.0),
            ),
            "gelu": (
                (recorded("aten::gelu", [[32, 1024, 3072], []], [BF16, ""], 300.0), card),
                efficiency(32 * 1024 * 3072, gelu, gelu / bandwidth, 300.0),
            ),
            "mul by a tensor of one element": (
                (recorded("aten::mul", [[1000, 1000], []], [BF16, BF16], 4.0), card),
                efficiency(1000 * 1000, by_one, by_one / bandwidth, 4.0),
            ),
        },
    )
