"""Visible checks of norms.py: section 6.

The right values are computed by PyTorch in fp64. How far from them an answer may be follows from what PyTorch is
off when it computes in fp32 and rounds the result to the format of the input.
"""

import math

import pytest

from kernels_ref import inputs

MOVES = {
    "alias", "as_strided", "clone", "contiguous", "copy_", "detach", "empty", "empty_like", "empty_strided", "expand",
    "fill_", "full", "new_empty", "new_empty_strided", "new_zeros", "permute", "reshape", "select", "slice", "split",
    "squeeze", "t", "_to_copy", "transpose", "unbind", "unsafe_split", "_unsafe_view", "unsqueeze", "view", "zero_",
    "zeros", "zeros_like", "_reshape_alias", "_reshape_copy",
}  # fmt: skip
"""Operations of PyTorch that make, view or copy tensors, and compute nothing."""


def computed_by_torch(evidence):
    """What PyTorch ran beside the kernels that is more than making, viewing or copying a tensor."""
    names = sorted(evidence.torch.ops)
    return [name for name in names if not name.startswith("aten.") or name.split(".")[1] not in MOVES]


def launches_of(expect, evidence, symptom):
    """The launches of a call in which kernels do the work."""
    launches = [launch for launch in evidence.launches if launch.config_index == 0]
    expect.that(bool(launches), "no kernel was launched: PyTorch did the work", symptom=f"library_{symptom}")
    by_torch = computed_by_torch(evidence)
    expect.that(
        not by_torch,
        f"PyTorch computes beside the kernel: {', '.join(by_torch[:4])}",
        symptom=f"{symptom}_beside_the_kernel",
    )
    return launches


def rms(x, weight, eps):
    """RMSNorm in fp64, and as an honest kernel rounds it."""
    wide, mean_square = x.double(), x.double().square().mean(-1, keepdim=True)
    right = wide / (mean_square + eps).sqrt() * weight.double()
    low = (x.float() / (x.float().square().mean(-1, keepdim=True) + eps).sqrt() * weight.float()).to(x.dtype)
    return right, low


def rms_suspects(x, weight, eps):
    """What the usual mistakes give."""
    wide, w = x.double(), weight.double()
    square = wide.square()
    block = 1 << (x.shape[-1] - 1).bit_length()
    centred = wide - wide.mean(-1, keepdim=True)
    return {
        "divided_by_block": lambda: wide / (square.sum(-1, keepdim=True) / block + eps).sqrt() * w,
        "sum_not_divided": lambda: wide / (square.sum(-1, keepdim=True) + eps).sqrt() * w,
        "eps_outside_root": lambda: wide / (square.mean(-1, keepdim=True).sqrt() + eps) * w,
        "eps_ignored": lambda: wide / square.mean(-1, keepdim=True).sqrt() * w,
        "weight_forgotten": lambda: wide / (square.mean(-1, keepdim=True) + eps).sqrt(),
        "mean_subtracted": lambda: centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * w,
        "root_forgotten": lambda: wide / (square.mean(-1, keepdim=True) + eps) * w,
        "squares_in_half": lambda: wide / (x.square().double().mean(-1, keepdim=True) + eps).sqrt() * w,
    }


def check_rms(submission, expect, case, x, weight, eps=1e-5):
    """One call, compared; right values of PyTorch's earn nothing."""
    seen = submission.flash_attention.rms_norm_triton.metered(x, weight, eps)
    expect.close(seen.value, *rms(x, weight, eps), case=case, suspects=rms_suspects(x, weight, eps))
    launches_of(expect, seen.evidence, "norm")


def rows(seed, count, width, dtype="float32", size=1.0):
    """Rows that differ in size and offset, and a weight that is not 1."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    sizes = size * (0.5 + torch.rand(count, 1, generator=generator))
    x = sizes * (0.5 + torch.randn(count, width, generator=generator))
    weight = 0.5 + torch.rand(width, generator=generator)
    return x.to(getattr(torch, dtype)), weight.to(getattr(torch, dtype))


@pytest.mark.exercise("flash_attention.rms_norm_triton", weight=2)
def test_every_row_is_divided_by_its_own_root(submission, expect):
    """x / sqrt(mean(x²) + eps) · weight, one mean a row."""
    check_rms(submission, expect, "5 rows of 256", *rows(1, 5, 256))
    check_rms(submission, expect, "300 rows of 16", *rows(8, 300, 16))


@pytest.mark.exercise("flash_attention.rms_norm_triton", weight=2)
def test_a_width_need_not_be_a_power_of_two(submission, expect):
    """Widths 333, 1000 and 1: the lanes beyond the row are masked, and the mean divides by the width."""
    for width in (333, 1000, 1):
        check_rms(submission, expect, f"width {width}", *rows(2 + width, 4, width))


@pytest.mark.exercise("flash_attention.rms_norm_triton")
def test_epsilon_is_inside_the_root(submission, expect):
    """Small rows and eps of 0.01 and 0.3: eps is added to the mean square."""
    for eps in (1e-2, 0.3):
        check_rms(submission, expect, f"x near 0.05, eps {eps}", *rows(3, 4, 128, size=0.05), eps=eps)


@pytest.mark.exercise("flash_attention.rms_norm_triton", weight=2)
def test_half_precision_rows_are_summed_in_fp32(submission, expect):
    """fp16 and bf16: x is converted before it is squared, the result is converted at the end."""
    # bf16 first: squares that overflow in fp16 make zeros, and who returns nothing but zeros fails here already.
    check_rms(submission, expect, "bf16", *rows(5, 3, 1024, "bfloat16"))
    check_rms(submission, expect, "fp16, x near 300", *rows(4, 3, 512, "float16", size=300.0))


@pytest.mark.exercise("flash_attention.rms_norm_triton")
def test_rows_may_lie_apart(submission, expect):
    """x of shape (2, 3, 100), and a view of 100 of 160 columns."""
    x, weight = rows(6, 6, 100)
    check_rms(submission, expect, "(2, 3, 100)", x.reshape(2, 3, 100), weight)
    wide, _ = rows(7, 6, 160)
    check_rms(submission, expect, "100 of 160 columns", wide[:, :100], weight)


@pytest.mark.exercise("flash_attention.rms_norm_triton")
def test_the_kernel_computes_the_norm(submission, expect):
    """A kernel does the work: it reads x and the weight, and PyTorch computes nothing."""
    x, weight = rows(9, 6, 300, "bfloat16")
    seen = submission.flash_attention.rms_norm_triton.metered(x, weight)
    expect.close(seen.value, *rms(x, weight, 1e-5), suspects=rms_suspects(x, weight, 1e-5))
    launches = launches_of(expect, seen.evidence, "norm")
    read = sum(traffic.read_bytes for launch in launches for traffic in launch.tensors)
    expect.measured("read", read, "B")
    expect.that(
        read >= x.nbytes + weight.nbytes,
        f"the kernel reads {read:,} B, and x and the weight have {x.nbytes + weight.nbytes:,}",
        symptom="norm_beside_the_kernel",
    )


def softmax(x):
    """Softmax in fp64 and as an honest kernel rounds it; zeros in a masked row."""
    import torch

    largest = x.amax(-1, keepdim=True).double()
    shifted = x.double() - torch.where(largest == -math.inf, 0.0, largest)
    exponentials = shifted.exp()
    total = exponentials.sum(-1, keepdim=True)
    right = exponentials / torch.where(total == 0, 1.0, total)
    low_exponentials = shifted.float().exp()
    low_total = low_exponentials.sum(-1, keepdim=True)
    return right, (low_exponentials / torch.where(low_total == 0, 1.0, low_total)).to(x.dtype)


def finite(largest):
    """A row's maximum, with 0 where the row is masked throughout."""
    return largest.masked_fill(largest == -math.inf, 0.0)


EXPONENT = 10.0
"""Scores that far below the maximum still count in fp32, and the rounding of x − max counts as often."""
BLOCKS = (256, 512, 1024, 2048, 4096)
"""Elements of a block that students use: what the usual mistakes give depends on it."""


def softmax_suspects(x):
    """What the usual mistakes give, in rows longer than one block too."""
    import torch

    wide = x.double()
    largest = finite(wide.amax(-1, keepdim=True))

    def without_maximum():
        exponentials = x.float().exp()
        return (exponentials / exponentials.sum(-1, keepdim=True)).double()

    def over_blocks(block):
        return torch.cat([part.softmax(-1) for part in wide.split(block, -1)], -1)

    def padded(block):
        extra = (-x.shape[-1] % block) * (-largest).exp()
        exponentials = (wide - largest).exp()
        return exponentials / (exponentials.sum(-1, keepdim=True) + extra)

    def never_rescaled(block):
        running, total = torch.full_like(largest, -math.inf), 0.0
        for part in wide.split(block, -1):
            running = torch.maximum(running, part.amax(-1, keepdim=True))
            total = total + (part - finite(running)).exp().sum(-1, keepdim=True)
        return (wide - largest).exp() / total

    def nan_from_masked_block(block):
        masked = (wide[..., :block] == -math.inf).all(-1, keepdim=True)
        return wide.softmax(-1).masked_fill(masked, math.nan)

    blocks = [size for size in BLOCKS if size < x.shape[-1]]
    return {
        "softmax_without_maximum": without_maximum,
        "padding_counted": [
            lambda block=block: padded(block) for block in (*blocks, 1 << (x.shape[-1] - 1).bit_length())
        ],
        "softmax_of_masked_row_nan": [
            lambda: wide.softmax(-1),
            *(lambda block=block: nan_from_masked_block(block) for block in blocks),
        ],
        "base_two": lambda: (wide * math.log(2)).softmax(-1),
        "softmax_over_blocks": [lambda block=block: over_blocks(block) for block in blocks],
        "sum_not_rescaled": [lambda block=block: never_rescaled(block) for block in blocks],
        "strides_ignored": lambda: x.as_strided(x.shape, (*x.stride()[:-1], 1)).double().softmax(-1),
    }


def check_softmax(submission, expect, case, x):
    """One call, compared; right values of PyTorch's earn nothing."""
    seen = submission.flash_attention.softmax_triton.metered(x)
    expect.close(seen.value, *softmax(x), case=case, exponent=EXPONENT, suspects=softmax_suspects(x))
    launches_of(expect, seen.evidence, "softmax")


@pytest.mark.exercise("flash_attention.softmax_triton", weight=2)
def test_a_row_is_exponentiated_and_divided(submission, expect):
    """exp(x − max) / Σ exp(x − max), for widths 128, 100 and 1."""
    for width in (128, 100, 1):
        check_softmax(submission, expect, f"width {width}", inputs.rows_of_scores(11, 5, width))


@pytest.mark.exercise("flash_attention.softmax_triton", weight=3)
def test_a_row_may_be_longer_than_a_block(submission, expect):
    """9,000 columns, with the maximum at the beginning, at the end, or in between."""
    for climb in (-30.0, 30.0, 0.0):
        x = inputs.rows_of_scores(12, 3, 9000, climb=climb)
        check_softmax(submission, expect, f"9,000 columns, climbing by {climb:g}", x)


@pytest.mark.exercise("flash_attention.softmax_triton", weight=2)
def test_large_scores_do_not_overflow(submission, expect):
    """Scores of ±10,000 give numbers, and scores near −10,000 do."""
    check_softmax(submission, expect, "±10,000", inputs.rows_of_scores(13, 4, 700, spread=4000.0))
    check_softmax(submission, expect, "−10,000", inputs.rows_of_scores(13, 4, 500) - 10_000)


@pytest.mark.exercise("flash_attention.softmax_triton")
def test_a_masked_row_gives_zeros(submission, expect):
    """A row of −inf throughout: zeros, not NaN; −inf in the first block only: as if it were not there."""
    x = inputs.rows_of_scores(14, 3, 6000)
    x[1] = -math.inf
    x[2, :5000] = -math.inf
    check_softmax(submission, expect, "masked", x)


@pytest.mark.exercise("flash_attention.softmax_triton")
def test_softmax_takes_any_strides_and_formats(submission, expect):
    """A transposed view, (2, 3, N), fp16 and bf16."""
    check_softmax(submission, expect, "a transposed view", inputs.rows_of_scores(15, 70, 6).T)
    check_softmax(submission, expect, "(2, 3, 90)", inputs.rows_of_scores(16, 6, 90).reshape(2, 3, 90))
    for dtype in ("float16", "bfloat16"):
        check_softmax(submission, expect, dtype, inputs.rows_of_scores(17, 3, 1500, dtype=dtype))


@pytest.mark.exercise("flash_attention.softmax_triton")
def test_each_element_is_read_at_most_twice(submission, expect):
    """A kernel does the work: one pass for maximum and sum, one for the result, no other tensor as large."""
    x = inputs.rows_of_scores(18, 3, 9000, dtype="bfloat16")
    seen = submission.flash_attention.softmax_triton.metered(x)
    expect.close(
        seen.value, *softmax(x), case="9,000 columns", exponent=EXPONENT, suspects=softmax_suspects(x)
    )
    launches = launches_of(expect, seen.evidence, "softmax")
    exponentials = sum(launch.exps for launch in launches)
    expect.that(
        exponentials >= x.numel(),
        f"the kernels take {exponentials:,} exponentials of {x.numel():,} elements",
        symptom="softmax_beside_the_kernel",
    )
    temporary = seen.evidence.torch.peak_temporary_bytes
    expect.that(
        temporary < x.nbytes // 2,
        f"temporaries of {temporary:,} B are made: two numbers a row are enough",
        symptom="softmax_temporary",
    )
    read = sum(traffic.read_bytes for launch in launches for traffic in launch.tensors)
    expect.measured("read", read / x.nbytes, "× the input")
    # Beside the row itself a few numbers a row may be read, where two kernels share them.
    expect.that(
        read <= 2.01 * x.nbytes,
        f"the input is read {read / x.nbytes:.2g} times: maximum and sum fit into one pass",
        symptom="three_passes",
    )


@pytest.mark.exercise("flash_attention.softmax_triton")
def test_a_wide_row_fits_an_h100(submission, expect):
    """Compiled for an H100 at 50,000 columns: a block of the whole row spills, a loop does not."""
    x = inputs.rows_of_scores(19, 2, 50_000)
    got = submission.flash_attention.softmax_triton(x)
    expect.close(got, *softmax(x), case="50,000 columns", exponent=EXPONENT, suspects=softmax_suspects(x))
    launches = submission.flash_attention.softmax_triton.compiled(x)
    expect.that(bool(launches), "no kernel was launched", symptom="library_softmax")
    for launch in launches:
        expect.that(launch.compiles, f"{launch.kernel}: {launch.message}")
        expect.that(
            launch.spill_bytes == 0,
            f"{launch.kernel}: {launch.spill_bytes} B of registers spill to memory: the block is too long",
            symptom="block_of_whole_row",
        )
