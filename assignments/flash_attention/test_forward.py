"""Visible checks of forward.py: section 7, five exercises on one function.

The right values are those of attention with its whole score matrix, in fp64. How far from them an answer may be
follows from what an honest computation is off: in fp16 and bf16 one with the same roundings, in fp32 one that
multiplies in TF32, as tl.dot does on a GPU unless it is told otherwise.
"""

import pytest

from kernels_ref import inputs, mistaken

TILES = (16, 32, 64, 128)
"""Keys in a tile that students use: what the usual mistakes give depends on it."""


def formats(expect, case, got, tensors):
    """out in the format of q, lse in fp32, where they are tensors at all."""
    import torch

    q = tensors[0]
    out, lse = (str(getattr(each, "dtype", "")).removeprefix("torch.") for each in got)
    wide = q.dtype != torch.float32 and out == "float32"
    expect.that(not wide, f"{case}: out must have the format of q, and is in {out}", symptom="out_in_fp32")
    half = lse in ("float16", "bfloat16")
    expect.that(not half, f"{case}: lse must be in float32, and is in {lse}", symptom="lse_in_half")


def compare(expect, case, got, tensors, causal=False, scale=None):
    """A pair that came back, against attention with its whole matrix."""
    from kernels_ref.naive import attention, low_precision_attention

    out, lse = attention(*(each.double() for each in tensors), causal=causal, scale=scale)
    low_out, low_lse = low_precision_attention(*tensors, causal=causal, scale=scale, tf32=True)
    pair = isinstance(got, list | tuple) and len(got) == 2
    expect.that(pair, f"{case}: flash_forward must return a pair, out and lse")
    formats(expect, case, got, tensors)
    suspects = mistaken.for_tiles(
        lambda tile: mistaken.forward(*tensors, tile, causal=causal, scale=scale), TILES
    )
    how = {"case": case, "exponent": float(lse[lse.isfinite()].abs().max()) if lse.isfinite().any() else 0.0}
    expect.close(got[0], out, low_out, name="out", suspects=suspects["out"], **how)
    expect.close(got[1], lse, low_lse, name="lse", rows=-1, suspects=suspects["lse"], **how)


def check(submission, expect, case, tensors, causal=False, scale=None):
    """One call, compared; defaults are left to the function."""
    how = {"causal": True} if causal else {}
    how |= {} if scale is None else {"scale": scale}
    seen = submission.flash_attention.flash_forward.metered(*tensors, **how)
    compare(expect, case, seen.value, tensors, causal, scale)
    by_kernels(expect, case, seen.evidence, tensors, causal)


def by_kernels(expect, case, evidence, tensors, causal):
    """What made the right values: kernels, in the format of the inputs. Right values of a library earn nothing."""
    from kernels_ref.naive import visible

    q, k, _ = tensors
    ops = {name.partition(".")[2].split(".")[0] for name in evidence.torch.ops}
    library = ops & HEAVY_OPS | {op for op in ops if op.startswith(("_scaled_dot_product", "conv"))}
    expect.that(
        not library,
        f"{case}: PyTorch did the work: {', '.join(sorted(library))}",
        symptom="library_attention",
    )
    launches = [launch for launch in evidence.launches if launch.config_index == 0]
    flops = sum(sum(launch.dot_flops.values()) for launch in launches)
    queries, keys, width = *q.shape[-2:-1], *k.shape[-2:]
    seen = int(visible(queries, keys).sum()) if causal else queries * keys
    pairs = q.shape[:-2].numel() * seen
    # Products without tl.dot are slow but honest: then the exponentials tell that the kernel saw every score.
    expect.that(
        flops >= 4 * pairs * width or (flops == 0 and sum(launch.exps for launch in launches) >= pairs),
        f"{case}: the kernels' dots do {flops:,} FLOPs, and attention takes {4 * pairs * width:,}",
        symptom="too_few_products" if flops else "library_attention",
    )
    used = {name for launch in launches for name in launch.dot_flops}
    narrow = used - {"fp32", "tf32"} if q.dtype.itemsize == 4 else used & {"fp8"}
    expect.that(
        not narrow,
        f"{case}: dots run in {', '.join(sorted(narrow))}, and the inputs have more precision",
        symptom="narrow_dots",
    )


# ---- flash_forward: square, fp32


@pytest.mark.exercise("flash_attention.flash_forward", weight=3)
def test_scores_are_scaled_once(submission, expect):
    """S = scale · QKᵀ, once, with the scale that is given or 1/√D; the exponential is base e."""
    tensors = inputs.peaked(201, 64, 64, 64, leading=(2,), query_scale=2.0)
    check(submission, expect, "T = 64, scale 1/√D", tensors)
    check(submission, expect, "T = 64, scale 0.2", tensors, scale=0.2)


@pytest.mark.exercise("flash_attention.flash_forward", weight=4)
def test_rescales_when_the_running_maximum_grows(submission, expect):
    """Scores that climb from tile to tile: the sum and the accumulator both shrink by exp(old − new)."""
    check(submission, expect, "scores that climb", inputs.climbing(202, 256, 256, 64, climb=12.0))
    check(submission, expect, "scores that climb faster", inputs.climbing(212, 64, 64, 64, climb=20.0))


@pytest.mark.exercise("flash_attention.flash_forward", weight=2)
def test_keeps_the_maximum_when_scores_fall(submission, expect):
    """Scores that fall from tile to tile: the first maximum stays, and later tiles weigh less."""
    check(submission, expect, "scores that fall", inputs.climbing(203, 256, 256, 64, climb=-12.0))
    check(submission, expect, "scores that fall faster", inputs.climbing(213, 64, 64, 64, climb=-20.0))


@pytest.mark.exercise("flash_attention.flash_forward", weight=3)
def test_logits_of_ten_thousand_do_not_overflow(submission, expect):
    """Logits of ±10,000 give numbers: the maximum is subtracted inside the exponential."""
    check(submission, expect, "±10,000", inputs.huge(204, 128, 128, 64))
    check(submission, expect, "±3,000", inputs.huge(214, 64, 64, 64, largest=3e3))


@pytest.mark.exercise("flash_attention.flash_forward", weight=2)
def test_lse_is_the_natural_logarithm_of_the_whole_sum(submission, expect):
    """lse = m + log(l): with the maximum, in base e, in fp32; one number a query and head."""
    check(submission, expect, "T = 128", inputs.peaked(205, 128, 128, 64, leading=(2,), query_scale=1.0))
    check(submission, expect, "T = 64", inputs.peaked(215, 64, 64, 64, query_scale=1.0))


@pytest.mark.exercise("flash_attention.flash_forward", weight=3)
def test_every_key_counts_wherever_it_stands(submission, expect):
    """One key has all the weight: in the first tile, the last, or one in between; or all keys tie."""
    for keys, position in ((256, 0), (128, 75), (256, 255)):
        tensors = inputs.needle(206 + position, keys, keys, 64, position)
        check(submission, expect, f"{keys} keys, no. {position} counts", tensors)
    check(submission, expect, "keys that tie", inputs.ties(207, 128, 128, 64))


@pytest.mark.exercise("flash_attention.flash_forward", weight=3)
def test_a_kernel_does_the_work(submission, expect):
    """A Triton kernel computes the scores: no attention, matmul or softmax of PyTorch."""
    tensors = inputs.peaked(208, 128, 128, 64, leading=(2,))
    check(submission, expect, "T = 128", tensors)


HEAVY_OPS = {
    "_cdist_forward", "_safe_softmax", "_softmax", "_log_softmax", "_trilinear", "addbmm", "addmm", "addmv", "addr",
    "amax", "baddbmm", "bmm", "cumsum", "dot", "exp", "exp2", "expm1", "linear", "logaddexp", "logaddexp2", "logsumexp",
    "matmul", "max", "mean", "mkldnn_linear", "mm", "mv", "numpy", "pow", "prod", "sigmoid", "softmax", "sum", "tanh",
    "tolist", "vdot",
}  # fmt: skip
"""Operations of PyTorch without which it cannot compute attention, and that nothing beside a kernel needs."""


# ---- flash_forward_shapes


@pytest.mark.exercise("flash_attention.flash_forward_shapes", weight=3)
def test_rows_beyond_the_end_are_not_touched(submission, expect):
    """T of 1, 17, 65 and 130, no multiple of a tile: rows and keys beyond the end are masked."""
    for tokens in (130, 65, 17, 1):
        check(submission, expect, f"T = {tokens}", inputs.peaked(300 + tokens, tokens, tokens, 64))


@pytest.mark.exercise("flash_attention.flash_forward_shapes", weight=3)
def test_a_key_that_is_not_there_is_not_counted(submission, expect):
    """Scores far below 0 and a ragged T_k: padding with zeros would win every maximum."""
    for keys in (70, 129):
        q, k, v = inputs.peaked(310 + keys, 64, keys, 64, query_scale=1.0)
        q[..., 0], k[..., 0] = 8.0, -25.0  # every score is near −25
        check(submission, expect, f"{keys} keys with scores near −25", (q, k, v))


@pytest.mark.exercise("flash_attention.flash_forward_shapes", weight=2)
def test_queries_and_keys_may_differ_in_number(submission, expect):
    """T_q ≠ T_k, in both directions."""
    for queries, keys in ((33, 150), (150, 33), (1, 100)):
        tensors = inputs.peaked(320 + queries, queries, keys, 64, leading=(2,))
        check(submission, expect, f"{queries} queries, {keys} keys", tensors)


@pytest.mark.exercise("flash_attention.flash_forward_shapes", weight=3)
def test_head_dimensions_need_not_be_powers_of_two(submission, expect):
    """D of 32, 80, 96, 128 and 256: the block of columns is padded, the scale is 1/√D all the same."""
    for width in (32, 80, 96, 128, 256):
        check(submission, expect, f"D = {width}", inputs.peaked(330 + width, 70, 70, width))


@pytest.mark.exercise("flash_attention.flash_forward_shapes", weight=2)
def test_leading_dimensions_are_free(submission, expect):
    """(T, D), (B, H, T, D), (A, B, H, T, D)."""
    for leading in ((), (2, 3), (2, 1, 2)):
        shape = f"leading dimensions {leading}"
        check(submission, expect, shape, inputs.peaked(340 + len(leading), 40, 50, 64, leading=leading))


# ---- flash_forward_half


@pytest.mark.exercise("flash_attention.flash_forward_half", weight=2)
def test_half_precision_gives_half_precision_and_an_lse_in_fp32(submission, expect):
    """fp16 and bf16: out in the format of q, lse in fp32."""
    for dtype in ("float16", "bfloat16"):
        tensors = inputs.peaked(401, 128, 128, 64, dtype=dtype, query_scale=2.0)
        check(submission, expect, dtype, tensors)


@pytest.mark.exercise("flash_attention.flash_forward_half", weight=2)
def test_sums_are_kept_in_fp32(submission, expect):
    """Many keys that weigh about the same: an accumulator or a sum in 16 bits loses the small ones."""
    for dtype, small in (("float16", 0.007), ("bfloat16", 0.06)):
        tensors = inputs.peaked(402, 64, 512, 64, dtype=dtype, query_scale=0.5)
        check(submission, expect, f"{dtype}, 512 keys", tensors)
        # 128 of the small ones are less than half a unit in the last place of 2,048: added in 16 bits, all are lost.
        q, k, v = inputs.ties(412, 64, 1024, 64, dtype=dtype)
        v[0], v[1:] = 2048.0, small
        check(submission, expect, f"{dtype}, one large value and 1,023 small ones", (q, k, v))


@pytest.mark.exercise("flash_attention.flash_forward_half")
def test_half_precision_at_other_head_dimensions(submission, expect):
    """bf16 with D = 128, fp16 with D = 80 and a ragged T."""
    check(submission, expect, "bf16, D = 128", inputs.peaked(403, 128, 128, 128, dtype="bfloat16"))
    check(submission, expect, "fp16, D = 80, T = 100", inputs.peaked(404, 100, 100, 80, dtype="float16"))


# ---- flash_forward_causal


@pytest.mark.exercise("flash_attention.flash_forward_causal", weight=3)
def test_a_query_sees_itself_and_what_came_before(submission, expect):
    """T_q = T_k: the diagonal is seen, what lies right of it is not."""
    for tokens in (64, 200):
        tensors = inputs.peaked(500 + tokens, tokens, tokens, 64, query_scale=2.0)
        check(submission, expect, f"T = {tokens}", tensors, causal=True)


@pytest.mark.exercise("flash_attention.flash_forward_causal", weight=2)
def test_the_last_tile_of_keys_is_not_forgotten(submission, expect):
    """The heaviest key is the query's own: a loop that ends one tile early never sees it."""
    q, k, v = inputs.peaked(510, 200, 200, 64, query_scale=1.0)
    import torch

    q[..., :2] = 8.0 * torch.stack([torch.arange(200.0).cos(), torch.arange(200.0).sin()], -1)
    k[..., :2] = 3.0 * torch.stack([torch.arange(200.0).cos(), torch.arange(200.0).sin()], -1)
    check(submission, expect, "each query's own key counts", (q, k, v), causal=True)
    check(submission, expect, "half as many", (q[:100], k[:100], v[:100]), causal=True)


@pytest.mark.exercise("flash_attention.flash_forward_causal", weight=2)
def test_causal_is_aligned_bottom_right(submission, expect):
    """T_q ≠ T_k: query i sees the keys j ≤ i + T_k − T_q, so the last query sees every key."""
    for queries, keys in ((70, 150), (1, 90)):
        tensors = inputs.peaked(520 + queries, queries, keys, 64, query_scale=2.0)
        check(submission, expect, f"{queries} queries, {keys} keys", tensors, causal=True)


@pytest.mark.exercise("flash_attention.flash_forward_causal", weight=2)
def test_a_query_that_sees_no_key_gives_zero(submission, expect):
    """150 causal queries, 70 keys: the first 80 queries see nothing, and have output 0 and lse −inf, not NaN."""
    check(submission, expect, "150 queries, 70 keys", inputs.peaked(530, 150, 70, 64), causal=True)
    check(submission, expect, "70 queries, 3 keys", inputs.peaked(531, 70, 3, 64), causal=True)


@pytest.mark.exercise("flash_attention.flash_forward_causal")
def test_later_keys_do_not_matter(submission, expect):
    """Keys and values after position 100 are replaced: the first 101 queries answer the same."""
    import torch

    tensors = inputs.peaked(540, 160, 160, 64, query_scale=2.0)
    seen = submission.flash_attention.flash_forward.metered(*tensors, causal=True)
    compare(expect, "T = 160", seen.value, tensors, causal=True)
    by_kernels(expect, "T = 160", seen.evidence, tensors, causal=True)
    got = seen.value
    q, k, v = (each.clone() for each in tensors)
    k[101:], v[101:] = 5.0, 1000.0
    changed = submission.flash_attention.flash_forward(q, k, v, causal=True)
    pair = isinstance(changed, list | tuple) and len(changed) == 2
    expect.that(
        pair and all(a.shape == b.shape for a, b in zip(changed, got, strict=True)), "no such pair again"
    )
    same = all(bool(torch.equal(a[:101], b[:101])) for a, b in zip(changed, got, strict=True))
    expect.that(
        same,
        "the first 101 queries answer otherwise when later keys and values change",
        symptom="later_keys_matter",
    )


# ---- flash_forward_gqa


@pytest.mark.exercise("flash_attention.flash_forward_gqa", weight=3)
def test_neighbouring_heads_share_keys_and_values(submission, expect):
    """H / H_kv query heads in a row read one head of K and V: h reads h // (H / H_kv)."""
    for heads, shared in ((4, 2), (3, 1), (6, 3)):
        tensors = inputs.peaked(600 + heads, 16, 50, 64, leading=(2, heads), kv_leading=(2, shared))
        check(submission, expect, f"{heads} heads on {shared}", tensors)


@pytest.mark.exercise("flash_attention.flash_forward_gqa", weight=3)
def test_any_strides_are_taken(submission, expect):
    """Heads between the tokens, q, k and v interleaved in one tensor, columns apart: strides are used, all of them."""
    import torch

    tensors = inputs.peaked(610, 50, 50, 64, leading=(2, 3))
    between = [each.transpose(1, 2).contiguous().transpose(1, 2) for each in tensors]
    check(submission, expect, "heads between the tokens", between)
    interleaved = torch.stack(tensors, dim=3).unbind(3)
    check(submission, expect, "q, k and v in one tensor", interleaved)
    q, k, v = tensors
    apart = [q.mT.contiguous().mT, k.mT.contiguous().mT, v]
    check(submission, expect, "columns apart", apart)


@pytest.mark.exercise("flash_attention.flash_forward_gqa")
def test_one_head_may_be_expanded(submission, expect):
    """K and V expanded along the heads, stride 0: nothing is copied, nothing is written."""
    q, k, v = inputs.peaked(620, 40, 50, 64, leading=(1, 4), kv_leading=(1, 1))
    check(submission, expect, "stride 0", (q, k.expand(1, 4, 50, 64), v.expand(1, 4, 50, 64)))
    q, k, v = inputs.peaked(621, 20, 30, 64, leading=(2,), kv_leading=(1,))
    check(submission, expect, "stride 0, 2 heads", (q, k.expand(2, 30, 64), v.expand(2, 30, 64)))


@pytest.mark.exercise("flash_attention.flash_forward_gqa", weight=2)
def test_shared_heads_work_with_the_causal_mask(submission, expect):
    """All together: shared heads, causal, T_q ≠ T_k, bf16."""
    tensors = inputs.peaked(
        630, 50, 110, 64, leading=(1, 4), kv_leading=(1, 2), dtype="bfloat16", query_scale=2.0
    )
    check(submission, expect, "4 heads on 2, causal, bf16", tensors, causal=True)
    tensors = inputs.peaked(631, 90, 60, 64, leading=(2,), kv_leading=(1,), dtype="float16")
    check(submission, expect, "2 heads on 1, causal, fp16", tensors, causal=True)
