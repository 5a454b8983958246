"""Visible checks of tiled.py, backward: section 5.

The right gradients are those of attention with its whole score matrix, in fp64, and tolerances follow from what an
implementation with the same roundings, but without tiles, is off. `out` and `lse` are handed in, and are right.
"""

import pytest

from kernels_ref import inputs, mistaken
from kernels_ref.sizes import gradient_sizes

# At T = 256 and D = 16, an fp32 tensor of T × D has half of it, and a tensor of T², a mask of one byte, twice.
LIMIT_BYTES = 32 * 1024


def finished(seed, tensors, causal=False, scale=None):
    """q, k, v with the out and lse of their forward pass, and a gradient of out."""
    from kernels_ref.naive import low_precision_attention

    out, lse = low_precision_attention(*tensors, causal=causal, scale=scale)
    return *tensors, out, lse, inputs.gradient(seed, out)


def compare(expect, case, got, given, block_q, block_k, causal=False, scale=None, names=None):
    """(dq, dk, dv) that came back, against those of attention with its whole matrix.

    `names` gives some of the usual mistakes other names, where another function makes them.
    """
    from kernels_ref.naive import attention_backward, low_precision_attention_backward

    q, k, v, _, lse, grad_out = given
    wide = (each.double() for each in (q, k, v, grad_out))
    wanted = attention_backward(*wide, causal=causal, scale=scale)
    low = low_precision_attention_backward(q, k, v, grad_out, causal=causal, scale=scale)
    three = isinstance(got, list | tuple) and len(got) == 3
    expect.that(three, f"{case}: three gradients are needed, dq, dk and dv")
    suspects = mistaken.backward(*given, block_q, block_k, causal=causal, scale=scale)
    natural = gradient_sizes(q, k, v, grad_out, scale=scale)
    for name, place in {"dv": 2, "dq": 0, "dk": 1}.items():
        expect.close(
            got[place],
            wanted[place],
            low[place],
            case=case,
            name=name,
            exponent=float(lse[lse.isfinite()].abs().max()),
            natural=natural[name],
            suspects={
                (names or {}).get(symptom, symptom): wrong for symptom, wrong in suspects[name].items()
            },
        )


def check(submission, expect, case, given, block_q, block_k, causal=False, scale=None):
    """The backward pass in tiles of this size, compared; defaults are left to the function."""
    how = {"block_q": block_q, "block_k": block_k}
    how |= {"causal": True} if causal else {}
    how |= {} if scale is None else {"scale": scale}
    got = submission.flash_attention.tiled_backward(*given, **how)
    compare(expect, case, got, given, block_q, block_k, causal, scale)


@pytest.mark.exercise("flash_attention.tiled_backward", weight=3)
def test_gradients_are_those_of_attention(submission, expect):
    """dV = PᵀdO, dS = P·(dP − delta), dQ = scale·dS·K, dK = scale·dSᵀ·Q; in one tile."""
    tensors = inputs.peaked(101, 24, 32, 16, query_scale=2.0)
    check(submission, expect, "scale 0.4", finished(1, tensors, scale=0.4), 32, 32, scale=0.4)
    check(submission, expect, "scale 1/√D", finished(1, tensors), 32, 32)


@pytest.mark.exercise("flash_attention.tiled_backward", weight=2)
def test_gradients_add_up_over_tiles(submission, expect):
    """dQ collects from all tiles of keys, dK and dV from all tiles of queries, short last ones included."""
    check(submission, expect, "tiles of 16", finished(2, inputs.peaked(102, 40, 56, 16)), 16, 16)
    tensors = inputs.peaked(103, 37, 50, 12, leading=(2, 3))
    check(submission, expect, "(2, 3, T, D), tiles of 8 and 24", finished(3, tensors), 8, 24)
    check(submission, expect, "tiles larger than T", finished(4, inputs.peaked(104, 9, 11, 12)), 64, 64)
    check(submission, expect, "one key", finished(5, inputs.peaked(105, 20, 1, 12)), 16, 16)


@pytest.mark.exercise("flash_attention.tiled_backward", weight=2)
def test_p_comes_from_lse_and_overflows_nothing(submission, expect):
    """Logits of ±10,000, and scores that climb: P = exp(S − lse), one subtraction inside the exponential."""
    check(submission, expect, "±10,000", finished(6, inputs.huge(106, 24, 40, 16)), 16, 16)
    check(
        submission,
        expect,
        "scores that climb",
        finished(7, inputs.climbing(107, 24, 40, 16, climb=12.0)),
        16,
        16,
    )


@pytest.mark.exercise("flash_attention.tiled_backward", weight=2)
def test_causal_gradients_are_aligned_bottom_right(submission, expect):
    """The mask of the backward pass is that of the forward pass, for T_q = T_k and for T_q < T_k."""
    for case, queries, keys in (("T = 40", 40, 40), ("20 queries, 50 keys", 20, 50)):
        given = finished(8, inputs.peaked(110 + keys, queries, keys, 16, query_scale=2.0), causal=True)
        check(submission, expect, f"{case}, one tile", given, 64, 64, causal=True)
        check(submission, expect, f"{case}, tiles of 8", given, 8, 8, causal=True)
        check(submission, expect, f"{case}, tiles of 16 and 8", given, 16, 8, causal=True)


@pytest.mark.exercise("flash_attention.tiled_backward")
def test_a_query_that_sees_no_key_has_no_gradient(submission, expect):
    """50 causal queries, 20 keys: the first 30 queries get dq 0, and add nothing to dk and dv; no NaN."""
    given = finished(9, inputs.peaked(111, 50, 20, 16, leading=(2,)), causal=True)
    check(submission, expect, "one tile", given, 64, 64, causal=True)
    given = finished(14, inputs.peaked(114, 50, 20, 16), causal=True)
    check(submission, expect, "tiles of 8", given, 8, 8, causal=True)


@pytest.mark.exercise("flash_attention.tiled_backward", weight=2)
def test_half_precision_gradients_are_summed_in_fp32(submission, expect):
    """fp16 and bf16: sums over many tiles in fp32, converted at the end, gradients in the format of the inputs."""
    for dtype in ("float16", "bfloat16"):
        given = finished(10, inputs.peaked(112, 40, 48, 16, dtype=dtype, query_scale=1.0))
        check(submission, expect, f"{dtype}, tiles of 16", given, 16, 16)
    # A gradient that is positive throughout: 512 tiles add to dV, and in bf16 such a sum soon stands still.
    *rest, grad_out = finished(15, inputs.peaked(115, 2048, 8, 16, dtype="bfloat16", query_scale=1.0))
    check(submission, expect, "bfloat16, 512 tiles", (*rest, grad_out.abs()), 4, 8)


def temporaries(expect, report, *names):
    """The report of a probe, once it is whole; nothing in it grows with T²."""
    kinds = {"largest_bytes": int, "largest_shape": list, "library": bool}
    whole = isinstance(report, dict) and all(type(report.get(name)) is kinds[name] for name in kinds)
    expect.that(whole and all(name in report for name in names), "no whole report came back")
    return report


def check_temporaries(expect, report, limit_bytes, tokens):
    """No operation made anything that grows with T²; to be asked behind right values only."""
    expect.measured("largest temporary", report["largest_bytes"], "B")
    shape = " × ".join(str(size) for size in report["largest_shape"])
    expect.that(
        report["largest_bytes"] <= limit_bytes,
        f"a tensor of {shape} is made, {report['largest_bytes'] / 1e3:,.0f} kB; nothing needs more than "
        f"{limit_bytes / 1e3:,.0f} kB at T = {tokens}",
        symptom="whole_matrix_backward",
    )


@pytest.mark.exercise("flash_attention.tiled_backward", weight=2)
def test_backward_never_makes_the_whole_matrix(submission, expect):
    """At T = 256 with tiles of 16 no tensor of the backward pass grows with T²."""
    for causal in (False, True):
        given = finished(11, inputs.peaked(113, 256, 256, 16), causal)
        how = {"block_q": 16, "block_k": 16, "causal": causal}
        report = submission.flash_attention.tiled_backward.probed(
            "temporaries", "call", args=list(given), kwargs=how
        )
        temporaries(expect, report, "value")
        compare(expect, "T = 256", report["value"], given, 16, 16, causal)
        check_temporaries(expect, report, LIMIT_BYTES, 256)


def both_passes(submission, expect, case, given, causal):
    """The probe's report of `TiledAttention.apply` and its backward pass, with the right values."""
    from kernels_ref.naive import attention, low_precision_attention

    *tensors, _, _, grad_out = given
    report = submission.flash_attention.TiledAttention.probed(
        "temporaries", "autograd", inputs=tensors, causal=causal, grad_out=grad_out
    )
    temporaries(expect, report, "out", "gradients", "needs_grad", "kept_bytes")
    out, _ = attention(*(each.double() for each in tensors), causal=causal)
    low, _ = low_precision_attention(*tensors, causal=causal)
    expect.close(report["out"], out, low, case=case, name="out")
    expect.that(
        report["needs_grad"] is True,
        f"{case}: the output of apply needs no gradient, so no backward comes here",
        symptom="function_detached",
    )
    problem = report.get("problem")
    expect.that(
        problem != "gradient_count",
        f"{case}: backward must return one value for each argument of forward behind ctx",
        symptom="function_gradient_count",
    )
    got = submission.flash_attention.tiled_backward(*given, causal=causal)
    compare(expect, f"tiled_backward, {case}", got, given, 64, 64, causal)
    unmasked = {"backward_not_masked": "backward_not_masked_in_function"}
    compare(expect, case, report["gradients"], given, 64, 64, causal, names=unmasked)
    return report


@pytest.mark.exercise("flash_attention.tiled_backward", weight=2)
def test_autograd_goes_through_the_function(submission, expect):
    """out = TiledAttention.apply(q, k, v, causal); backward gives q, k and v their gradients."""
    for case, shape, causal in (
        ("no mask", (20, 30, 16), False),
        ("causal", (40, 40, 16), True),
        ("causal, more queries than keys", (30, 20, 16), True),
    ):
        given = finished(12, inputs.peaked(120, *shape, leading=(2,), query_scale=2.0), causal)
        both_passes(submission, expect, case, given, causal)


@pytest.mark.exercise("flash_attention.tiled_backward", weight=2)
def test_the_function_keeps_no_matrix(submission, expect):
    """Between the passes only q, k, v, out and lse stay alive, and neither pass makes a tensor that grows with T²."""
    # Tiles are the function's own choice here, up to 128 × 128 and 8 bytes an element; a mask of T² has 256 kB.
    for causal in (False, True):
        given = finished(13, inputs.peaked(121, 512, 512, 16), causal)
        report = both_passes(submission, expect, "T = 512", given, causal)
        expect.measured("kept for backward", report["kept_bytes"], "B")
        expect.that(
            type(report["kept_bytes"]) is int and report["kept_bytes"] <= 8 * 512 * 4,
            "beside q, k, v and out, more stays alive for backward than one number a query",
            symptom="function_keeps_too_much",
        )
        check_temporaries(expect, report, 4 * LIMIT_BYTES, 512)
