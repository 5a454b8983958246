"""Visible checks of softmax.py, safe and online: section 3.

The right values are PyTorch's own in fp64. How far from them an answer may be follows from what PyTorch's own fp32,
fp16 or bf16 is off on the same scores.
"""

import math

import pytest

from kernels_ref import inputs

# What a streaming function may make at once, in blocks: a few copies of one block, and not a row of forty.
BLOCKS_AT_ONCE = 8


def softmax_64(x):
    """Softmax over the last dimension in fp64, with zeros in a row that is −inf throughout."""
    import torch

    return torch.nan_to_num(torch.softmax(x.double(), -1), nan=0.0)


def trusted(x):
    """The same in fp32, rounded to the format of x."""
    import torch

    return torch.nan_to_num(torch.softmax(x.float(), -1), nan=0.0).to(x.dtype)


def check_softmax(submission, expect, cases, suspects=None):
    """Each case is a name and its scores; all are asked for before the first is compared."""
    got = {case: submission.flash_attention.safe_softmax(x) for case, x in cases.items()}
    for case, x in cases.items():
        wrong = {
            name: (lambda x=x, wrong=wrong: wrong(x.double())) for name, wrong in (suspects or {}).items()
        }
        expect.close(got[case], softmax_64(x), trusted(x), case=case, suspects=wrong)
    case, x = next(iter(cases.items()))
    report = submission.flash_attention.safe_softmax.probed("temporaries", "call", args=[x], kwargs={})
    whole = isinstance(report, dict) and type(report.get("softmax")) is bool and "value" in report
    expect.that(whole, "no whole report came back")
    expect.close(report["value"], softmax_64(x), trusted(x), case=case)
    expect.that(
        not report["softmax"],
        "torch's own softmax did the work: write it with max, exp and sum",
        symptom="library_softmax",
    )


def over_all(x):
    """Softmax over all scores of the tensor together."""
    import torch

    return torch.softmax(x.flatten(), 0).reshape(x.shape)


def over_columns(x):
    """Softmax over the last dimension but one."""
    import torch

    return torch.softmax(x, -2)


@pytest.mark.exercise("flash_attention.safe_softmax")
def test_softmax_runs_over_the_last_dimension(submission, expect):
    """Rows of the last dimension sum to 1, however many dimensions stand before it."""
    import torch

    x = inputs.rows_of_scores(1, 24, 24)
    check_softmax(
        submission,
        expect,
        {
            "24 × 24 scores": x,
            "2 × 3 × 4 rows of 24": x.reshape(2, 3, 4, 24),
            "one row": x[0],
            "one column": torch.zeros(5, 1),
        },
        {"softmax_over_everything": over_all, "softmax_over_columns": over_columns},
    )


@pytest.mark.exercise("flash_attention.safe_softmax")
def test_scores_of_ten_thousand_do_not_overflow(submission, expect):
    """Scores of ±10,000 give what they give without their common offset: the maximum is subtracted first."""
    x = inputs.rows_of_scores(2, 16, 40)
    check_softmax(
        submission,
        expect,
        {"around +10,000": x + 1e4, "around −10,000": x - 1e4, "from −10,000 to 10,000": 2e3 * x},
        {"softmax_overflows": lambda x: (x.float().exp() / x.float().exp().sum(-1, keepdim=True)).double()},
    )


@pytest.mark.exercise("flash_attention.safe_softmax")
def test_each_row_has_its_own_maximum(submission, expect):
    """Rows whose scores are thousands apart: each row subtracts its own maximum, not the tensor's."""
    import torch

    x = inputs.rows_of_scores(3, 16, 40) + torch.linspace(-5000, 5000, 16)[:, None]

    def one_maximum(x):
        exponentials = torch.exp((x - x.max()).float()).double()
        return exponentials / exponentials.sum(-1, keepdim=True)

    check_softmax(
        submission,
        expect,
        {"rows far apart": x, "the same, last row first": x.flip(0)},
        {"softmax_one_maximum": one_maximum},
    )


@pytest.mark.exercise("flash_attention.safe_softmax")
def test_a_masked_score_weighs_nothing_and_a_masked_row_is_zero(submission, expect):
    """A score of −inf gets weight 0; a row of nothing but −inf is all zeros, not NaN."""
    x = inputs.rows_of_scores(4, 8, 12)
    x[:, ::3] = -math.inf
    x[2] = x[5] = -math.inf

    def uniform(x):
        right = softmax_64(x)
        right[2] = right[5] = 1 / x.shape[-1]
        return right

    def not_a_number(x):
        right = softmax_64(x)
        right[2] = right[5] = math.nan
        return right

    suspects = {"softmax_masked_row_nan": not_a_number, "softmax_masked_row_uniform": uniform}
    check_softmax(
        submission, expect, {"two rows of −inf": x, "and their columns reversed": x.flip(1)}, suspects
    )


@pytest.mark.exercise("flash_attention.safe_softmax")
def test_half_precision_sums_in_fp32(submission, expect):
    """100,000 near scores in fp16 sum to more than fp16 holds: sum in fp32, and return the format of the scores."""
    x = inputs.rows_of_scores(5, 2, 100_000, spread=0.05, dtype="float16")
    suspects = {"softmax_sum_in_half": lambda x: x * 0.0}
    check_softmax(submission, expect, {"fp16": x}, suspects)
    check_softmax(submission, expect, {"bf16": inputs.rows_of_scores(6, 8, 2000, dtype="bfloat16")})


def cut(x, width):
    """The columns of x in blocks of this width; the last may be narrower."""
    return [block.contiguous() for block in x.split(width, 1)]


def statistics_64(x):
    """The row's maximum, and its sum of exponentials less that, in fp64."""
    import torch

    largest = x.double().amax(-1)
    total = torch.exp(x.double() - torch.where(largest == -math.inf, 0.0, largest)[:, None]).sum(-1)
    return largest, total


def running(x, width, rescaled):
    """The sum that comes out where earlier blocks are not (or always) rescaled to the last maximum."""
    import torch

    total = torch.zeros(len(x), dtype=torch.float64)
    largest = torch.full((len(x),), -math.inf, dtype=torch.float64)
    for block in x.double().split(width, 1):
        grown = torch.maximum(largest, block.amax(-1)) if rescaled else block.amax(-1)
        total = total + torch.exp(block - grown[:, None]).sum(-1)
        largest = grown
    return total


def streamed(submission, expect, case, x, width, suspects=None):
    """The statistics of a stream of blocks, compared; returns what the probe reports of it."""
    report = submission.flash_attention.online_softmax.probed("temporaries", "stream", blocks=cut(x, width))
    whole = isinstance(report, dict) and type(report.get("peak_bytes")) is int
    expect.that(whole and "value" in report, "no whole report came back")
    value = report["value"]
    pair = isinstance(value, list | tuple) and len(value) == 2
    expect.that(pair, f"{case}: online_softmax must return a pair, the maximum and the sum")
    largest, total = statistics_64(x)
    expect.close(
        value[0], largest, largest.float(), case=case, name="m", rows=0, suspects=(suspects or {}).get("m")
    )
    expect.close(
        value[1], total, total.float(), case=case, name="l", rows=0, suspects=(suspects or {}).get("l")
    )
    return report


@pytest.mark.exercise("flash_attention.online_softmax", weight=2)
def test_the_sum_is_rescaled_when_the_maximum_grows(submission, expect):
    """Scores that climb: each block has a larger maximum, and what was summed before shrinks by exp(old − new)."""
    x = inputs.rows_of_scores(11, 16, 120, climb=20.0, spread=1.0)
    x[:, 64:80] -= 10.0  # one block below those before it: to subtract its own maximum is another mistake

    suspects = {
        "l": {
            "online_not_rescaled": lambda: running(x, 16, rescaled=True),
            "online_block_maximum_subtracted": lambda: running(x, 16, rescaled=False),
            "online_last_block_only": lambda: statistics_64(x[:, 112:])[1],
        },
        "m": {"online_maximum_of_last_block": lambda: x.double()[:, 112:].amax(-1)},
    }
    streamed(submission, expect, "scores that climb", x, 16, suspects)


@pytest.mark.exercise("flash_attention.online_softmax")
def test_the_maximum_never_falls(submission, expect):
    """Scores that fall: the first block's maximum stays, and later blocks are compared with it."""
    x = inputs.rows_of_scores(12, 16, 120, climb=-20.0, spread=1.0)
    suspects = {
        "m": {"online_maximum_of_last_block": lambda: x.double()[:, 112:].amax(-1)},
        "l": {"online_block_maximum_subtracted": lambda: running(x, 16, rescaled=False)},
    }
    streamed(submission, expect, "scores that fall", x, 16, suspects)


@pytest.mark.exercise("flash_attention.online_softmax")
def test_large_scores_do_not_overflow(submission, expect):
    """Scores of ±10,000, and blocks thousands apart: nothing overflows, and nothing is lost that counts."""
    x = inputs.rows_of_scores(13, 16, 96)
    for case, scores in {"around +10,000": x + 1e4, "around −10,000": x - 1e4, "wide apart": 2e3 * x}.items():
        streamed(submission, expect, case, scores, 32)


@pytest.mark.exercise("flash_attention.online_softmax", weight=2)
def test_blocks_may_be_masked_throughout(submission, expect):
    """Blocks of −inf at the start, in the middle and at the end of a row change nothing; a row of them has l = 0."""
    x = inputs.rows_of_scores(14, 12, 80)
    x[0:3, :32] = x[3:6, 16:48] = x[6:9, 64:] = x[9:11] = -math.inf
    nan = "online_masked_block_nan"

    def broken(statistic):
        def first_blocks():
            wrong = statistics_64(x)[statistic].clone()
            wrong[0:3] = wrong[9:11] = math.nan
            return wrong

        return first_blocks

    suspects = {"l": {nan: broken(1)}}
    streamed(submission, expect, "blocks of −inf", x, 16, suspects)


@pytest.mark.exercise("flash_attention.online_softmax")
def test_the_last_block_may_be_narrower(submission, expect):
    """Widths that do not divide the row, one block alone, and blocks of one column."""
    for columns, width in ((50, 16), (20, 64), (7, 1)):
        x = inputs.rows_of_scores(15 + columns, 6, columns)
        streamed(submission, expect, f"{columns} columns in blocks of {width}", x, width)


@pytest.mark.exercise("flash_attention.online_softmax", weight=2)
def test_each_block_is_read_once_and_forgotten(submission, expect):
    """Each block is gone when the next one comes, and nothing is kept that grows with their number."""
    x = inputs.rows_of_scores(16, 32, 1280)
    blocks = cut(x, 32)
    report = submission.flash_attention.online_softmax.probed("temporaries", "stream", blocks=blocks)
    expect.that(
        isinstance(report, dict) and type(report.get("peak_bytes")) is int, "no whole report came back"
    )
    value = report.get("value")
    stale = (
        isinstance(value, list | tuple) and len(value) == 2 and all(hasattr(each, "isnan") for each in value)
    )
    expect.that(
        not (stale and bool(value[1].isnan().all())),
        "the blocks are read after the next ones have come: by then their buffer holds something else",
        symptom="online_blocks_collected",
    )
    streamed(submission, expect, "40 blocks", x, 32)
    allowed = BLOCKS_AT_ONCE * blocks[0].nbytes
    expect.measured("alive at once", report["peak_bytes"], "B")
    expect.that(
        report["peak_bytes"] <= allowed,
        f"{report['peak_bytes'] / 1e3:,.0f} kB are alive at once, where a block has {blocks[0].nbytes / 1e3:,.0f} kB",
        symptom="online_blocks_copied",
    )
