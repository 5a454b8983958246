"""Visible checks of tiled.py, forward: section 4.

The right values are those of attention with its whole score matrix, in fp64. How far from them an answer may be
follows from what an implementation with the same roundings, but without tiles, is off on the same inputs.
"""

import pytest

from kernels_ref import inputs, mistaken

# At T = 256 and D = 16, an fp32 tensor of T × D has half of it, and a tensor of T², a mask of one byte, twice.
LIMIT_BYTES = 32 * 1024


def compare(expect, case, got, tensors, block, causal=False, scale=None):
    """A pair that came back, against attention with its whole matrix."""
    from kernels_ref.naive import attention, low_precision_attention

    out, lse = attention(*(each.double() for each in tensors), causal=causal, scale=scale)
    low_out, low_lse = low_precision_attention(*tensors, causal=causal, scale=scale)
    pair = isinstance(got, list | tuple) and len(got) == 2
    expect.that(pair, f"{case}: tiled_attention must return a pair, out and lse")
    suspects = mistaken.forward(*tensors, block, causal=causal, scale=scale)
    how = {"case": case, "exponent": float(lse[lse.isfinite()].abs().max())}
    expect.close(got[0], out, low_out, name="out", suspects=suspects["out"], **how)
    expect.close(got[1], lse, low_lse, name="lse", rows=-1, suspects=suspects["lse"], **how)


def check(submission, expect, case, tensors, block_q, block_k, causal=False, scale=None):
    """Attention in tiles of this size, compared; defaults are left to the function."""
    how = {"block_q": block_q, "block_k": block_k}
    how |= {"causal": True} if causal else {}
    how |= {} if scale is None else {"scale": scale}
    got = submission.flash_attention.tiled_attention(*tensors, **how)
    compare(expect, case, got, tensors, block_k, causal, scale)


@pytest.mark.exercise("flash_attention.tiled_attention", weight=2)
def test_scores_are_scaled_once(submission, expect):
    """S = scale · QKᵀ, once, with the scale that is given or 1/√D; the exponential is base e."""
    # One tile holds all: nothing that is checked elsewhere plays a part.
    tensors = inputs.peaked(51, 24, 32, 16, query_scale=2.0)
    check(submission, expect, "scale 0.4", tensors, 32, 32, scale=0.4)
    check(submission, expect, "scale 1/√D", tensors, 32, 32)


@pytest.mark.exercise("flash_attention.tiled_attention", weight=3)
def test_rescales_when_the_running_maximum_grows(submission, expect):
    """Scores that climb from tile to tile: the sum and the accumulator both shrink by exp(old − new)."""
    check(submission, expect, "scores that climb", inputs.climbing(52, 24, 64, 16, climb=12.0), 16, 16)
    tensors = inputs.climbing(57, 24, 100, 16, climb=20.0, leading=(2,))
    check(submission, expect, "scores that climb, two heads", tensors, 8, 20)


@pytest.mark.exercise("flash_attention.tiled_attention", weight=2)
def test_keeps_the_maximum_when_scores_fall(submission, expect):
    """Scores that fall from tile to tile: the first maximum stays, and later tiles weigh less."""
    check(submission, expect, "scores that fall", inputs.climbing(53, 24, 64, 16, climb=-12.0), 16, 16)
    tensors = inputs.climbing(58, 24, 100, 16, climb=-20.0, leading=(2,))
    check(submission, expect, "scores that fall, two heads", tensors, 8, 20)


@pytest.mark.exercise("flash_attention.tiled_attention", weight=2)
def test_logits_of_ten_thousand_do_not_overflow(submission, expect):
    """Logits of ±10,000 give numbers: the maximum is subtracted inside the exponential."""
    check(submission, expect, "one tile", inputs.huge(54, 24, 64, 16), 64, 64)
    check(submission, expect, "tiles of 16", inputs.huge(59, 24, 64, 16), 16, 16)


@pytest.mark.exercise("flash_attention.tiled_attention", weight=2)
def test_lse_is_the_natural_logarithm_of_the_whole_sum(submission, expect):
    """lse = m + log(l): with the maximum, in base e, in fp32."""
    check(submission, expect, "one tile", inputs.peaked(55, 24, 40, 16), 64, 64)
    check(submission, expect, "tiles of 16", inputs.peaked(56, 24, 48, 16), 16, 16)


@pytest.mark.exercise("flash_attention.tiled_attention", weight=2)
def test_every_key_counts_wherever_it_stands(submission, expect):
    """One key has all the weight: in the first tile, the last, a short last one; or it is the only key."""
    for keys, position in ((64, 0), (64, 63), (64, 20), (50, 49), (50, 16), (1, 0)):
        case = f"{keys} keys, no. {position} counts"
        check(submission, expect, case, inputs.needle(60 + keys + position, 20, keys, 16, position), 16, 16)


@pytest.mark.exercise("flash_attention.tiled_attention")
def test_shapes_are_free(submission, expect):
    """Leading dimensions, tiles that divide nothing, other tiles for queries and keys, ties, views of any strides."""
    check(submission, expect, "tiles larger than T", inputs.peaked(72, 9, 11, 32), 64, 64)
    check(submission, expect, "keys that tie", inputs.ties(73, 20, 40, 16), 16, 16)
    check(submission, expect, "one query", inputs.peaked(74, 1, 70, 16, leading=(2,)), 16, 32)
    check(submission, expect, "(2, 3, T, D)", inputs.peaked(71, 37, 50, 12, leading=(2, 3)), 8, 24)
    tensors = inputs.peaked(75, 20, 20, 16, leading=(2,))
    interleaved = [each.transpose(0, 1).contiguous().transpose(0, 1) for each in tensors]
    check(submission, expect, "heads between the rows", interleaved, 8, 8)


@pytest.mark.exercise("flash_attention.tiled_attention", weight=2)
def test_causal_is_aligned_bottom_right(submission, expect):
    """Query i sees the keys j ≤ i + T_k − T_q: the diagonal included, and the last query sees every key."""
    for case, queries, keys in (("20 queries, 50 keys", 20, 50), ("T = 40", 40, 40)):
        tensors = inputs.peaked(80 + keys, queries, keys, 16, query_scale=2.0)
        check(submission, expect, f"{case}, one tile", tensors, 64, 64, causal=True)
        check(submission, expect, f"{case}, tiles of 8", tensors, 8, 8, causal=True)
        check(submission, expect, f"{case}, tiles of 8 and 16", tensors, 8, 16, causal=True)


@pytest.mark.exercise("flash_attention.tiled_attention")
def test_a_query_that_sees_no_key_gives_zero(submission, expect):
    """50 causal queries, 20 keys: the first 30 queries see nothing, and have output 0 and lse −inf, not NaN."""
    tensors = inputs.peaked(91, 50, 20, 16, leading=(2,))
    check(submission, expect, "one tile", tensors, 64, 64, causal=True)
    check(submission, expect, "tiles of 8", inputs.peaked(92, 50, 20, 16), 8, 8, causal=True)


@pytest.mark.exercise("flash_attention.tiled_attention", weight=2)
def test_half_precision_inputs_are_summed_in_fp32(submission, expect):
    """fp16 and bf16: scores, statistics and sums in fp32, the output converted at the end, lse in fp32."""
    for dtype in ("float16", "bfloat16"):
        tensors = inputs.peaked(95, 32, 256, 16, dtype=dtype, query_scale=1.0)
        check(submission, expect, f"{dtype}, one tile", tensors, 32, 256)
        check(submission, expect, f"{dtype}, tiles of 16", tensors, 16, 16)


def lean(submission, expect, causal):
    """Hold the largest tensor that is made against what tiles need; what the values are, too."""
    tensors = inputs.peaked(97, 256, 256, 16)

    def seen(causal):
        how = {"block_q": 16, "block_k": 16, "causal": causal}
        report = submission.flash_attention.tiled_attention.probed(
            "temporaries", "call", args=list(tensors), kwargs=how
        )
        kinds = {"largest_bytes": int, "largest_shape": list, "library": bool}
        whole = isinstance(report, dict) and all(type(report.get(name)) is kinds[name] for name in kinds)
        expect.that(whole and "value" in report, "no whole report came back")
        return report

    report = seen(causal)
    compare(expect, "T = 256", report["value"], tensors, 16, causal)
    expect.that(not report["library"], "torch's own attention did the work", symptom="library_attention")
    expect.measured("largest temporary", report["largest_bytes"], "B")
    if report["largest_bytes"] > LIMIT_BYTES:
        shape = " × ".join(str(size) for size in report["largest_shape"])
        only_causal = causal and seen(False)["largest_bytes"] <= LIMIT_BYTES
        expect.that(
            False,
            f"a tensor of {shape} is made, {report['largest_bytes'] / 1e3:,.0f} kB; nothing needs more than "
            f"{LIMIT_BYTES / 1e3:,.0f} kB at T = 256",
            symptom="mask_of_all_pairs" if only_causal else "whole_matrix",
        )


# Tiles are the exercise: attention without them is right in every other check, and earns half of the points.
@pytest.mark.exercise("flash_attention.tiled_attention", weight=13)
def test_never_makes_the_whole_matrix(submission, expect):
    """At T = 256 with tiles of 16 no tensor grows with T²."""
    lean(submission, expect, causal=False)


@pytest.mark.exercise("flash_attention.tiled_attention", weight=5)
def test_never_makes_a_mask_of_all_pairs(submission, expect):
    """Nor does a causal mask: each tile has its own."""
    lean(submission, expect, causal=True)
