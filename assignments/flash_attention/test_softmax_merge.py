"""Visible checks of softmax.py, merging: section 3.

The right values are those of attention over all keys, in fp64. How far from them an answer may be follows from what
rounding them to the format of the parts is off.
"""

import math

import pytest

from kernels_ref import inputs


def attention_64(q, k, v, keys=None, causal=False):
    """(out, lse) in fp64, over these keys (a slice) or over all of them."""
    from kernels_ref.naive import attention

    some = slice(None) if keys is None else keys
    return attention(q.double(), k[..., some, :].double(), v[..., some, :].double(), causal=causal)


def handed_over(part, dtype):
    """A part as the function gets it: out in this format, lse in fp32."""
    import torch

    out, lse = part
    return out.to(getattr(torch, dtype)), lse.float()


def check_merged(expect, case, got, wanted, dtype="float32", suspects=None):
    """A merged pair, compared with attention over all keys."""
    pair = isinstance(got, list | tuple) and len(got) == 2
    expect.that(pair, f"{case}: merge_partials must return a pair, out and lse")
    out, lse = wanted
    low_out, low_lse = handed_over(wanted, dtype)
    given = suspects or {}
    expect.close(got[0], out, low_out, case=case, name="out", suspects=given.get("out"))
    expect.close(got[1], lse, low_lse, case=case, name="lse", rows=-1, suspects=given.get("lse"))


def wrong_merges(one, other):
    """What usual mistakes make of two fp64 parts, by the tensor that shows it and by symptom."""
    import torch

    (out_one, lse_one), (out_other, lse_other) = one, other
    larger = torch.maximum(lse_one, lse_other)
    weights = [torch.exp(each - larger)[..., None] for each in (lse_one, lse_other)]
    return {
        "out": {
            "merge_average": lambda: (out_one + out_other) / 2,
            "merge_sum": lambda: out_one + out_other,
            "merge_not_divided": lambda: weights[0] * out_one + weights[1] * out_other,
            "merge_overflow": lambda: torch.full_like(out_one, math.nan),
        },
        "lse": {
            "merge_lse_larger": lambda: larger,
            "merge_lse_without_maximum": lambda: torch.log(weights[0] + weights[1])[..., 0],
            "merge_lse_added": lambda: lse_one + lse_other,
        },
    }


def halves(q, k, v, at):
    """Attention over the keys before `at`, and over those from it on, in fp64."""
    return attention_64(q, k, v, slice(0, at)), attention_64(q, k, v, slice(at, None))


def merge_two(submission, expect, case, tensors, at, dtype="float32"):
    """Split the keys at `at`, merge, compare with the whole."""
    one, other = halves(*tensors, at)
    got = submission.flash_attention.merge_partials(handed_over(one, dtype), handed_over(other, dtype))
    check_merged(expect, case, got, attention_64(*tensors), dtype, wrong_merges(one, other))


@pytest.mark.exercise("flash_attention.merge_partials", weight=2)
def test_two_parts_give_the_whole(submission, expect):
    """Attention over two sets of keys, merged, is attention over all: each part weighs exp(its lse − lse of all)."""
    tensors = inputs.peaked(31, 24, 40, 16, leading=(2,), query_scale=1.5)
    merge_two(submission, expect, "halves of the keys", tensors, 20)
    merge_two(submission, expect, "one key and the others", tensors, 1)
    merge_two(submission, expect, "T × D, no heads", inputs.peaked(32, 10, 30, 8, query_scale=1.5), 12)


@pytest.mark.exercise("flash_attention.merge_partials")
def test_parts_merge_in_any_order(submission, expect):
    """Five parts merged from the left, from the right, and as pairs of pairs, all give the whole."""
    merge = submission.flash_attention.merge_partials

    def merged(one, other):
        got = merge(one, other)
        pair = isinstance(got, list | tuple) and len(got) == 2 and all(hasattr(each, "dtype") for each in got)
        expect.that(pair, "merge_partials must return a pair, out and lse")
        return tuple(got)

    for seed in (33, 38):
        tensors = inputs.peaked(seed, 16, 50, 16, query_scale=1.5)
        a, b, c, d, e = (
            handed_over(attention_64(*tensors, slice(start, start + 10)), "float32")
            for start in range(0, 50, 10)
        )
        got = {
            "from the left": merged(merged(merged(merged(a, b), c), d), e),
            "from the right": merged(a, merged(b, merged(c, merged(d, e)))),
            "pairs, the last part first": merged(e, merged(merged(d, c), merged(b, a))),
        }
        for case, pair in got.items():
            check_merged(expect, case, pair, attention_64(*tensors))


@pytest.mark.exercise("flash_attention.merge_partials")
def test_large_lse_does_not_overflow(submission, expect):
    """With logits of ±10,000 exp(lse) is beyond any format: the larger lse is taken out first."""
    merge_two(submission, expect, "logits of ±10,000", inputs.huge(34, 24, 40, 16), 20)
    merge_two(submission, expect, "a part that weighs e^−40", inputs.climbing(35, 12, 40, 16, climb=80.0), 20)


@pytest.mark.exercise("flash_attention.merge_partials", weight=2)
def test_an_empty_part_changes_nothing(submission, expect):
    """A part with lse −inf has no weight, on either side; two of them give output 0 and lse −inf, not NaN."""
    import torch

    tensors = inputs.peaked(36, 12, 20, 8)
    whole = attention_64(*tensors)
    empty = torch.zeros_like(whole[0]), torch.full_like(whole[1], -math.inf)
    mixed_out, mixed_lse = whole[0].clone(), whole[1].clone()
    mixed_out[4:8], mixed_lse[4:8] = 0.0, -math.inf
    mixed = mixed_out, mixed_lse
    merge = submission.flash_attention.merge_partials

    def broken(statistic, pair, rows):
        def with_nan():
            wrong = pair[statistic].clone()
            wrong[rows] = math.nan
            return wrong

        return with_nan

    for case, (one, other), wanted, lost in (
        ("whole and empty", (whole, empty), whole, slice(0, 0)),
        ("empty and whole", (empty, whole), whole, slice(0, 0)),
        ("some rows empty in both", (mixed, empty), mixed, slice(4, 8)),
        ("all rows empty in both", (empty, empty), empty, slice(None)),
    ):
        suspects = {
            "out": {"merge_empty_nan": broken(0, wanted, lost)},
            "lse": {"merge_empty_nan": broken(1, wanted, lost)},
        }
        got = merge(handed_over(one, "float32"), handed_over(other, "float32"))
        check_merged(expect, case, got, wanted, suspects=suspects)


@pytest.mark.exercise("flash_attention.merge_partials")
def test_half_precision_parts_keep_their_format(submission, expect):
    """Parts in fp16 and bf16 give an output in their format, and an lse in fp32."""
    for dtype in ("float16", "bfloat16"):
        tensors = inputs.peaked(37, 16, 40, 16, query_scale=1.5)
        merge_two(submission, expect, dtype, tensors, 20, dtype)
