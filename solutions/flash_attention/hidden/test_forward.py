"""Hidden checks of forward.py: fresh shapes, formats, masks and strides against attention with its whole matrix."""

import math

import pytest

from kernels_ref import inputs, mistaken

TILES = (16, 32, 64, 128)
KINDS = ("peaked", "climbing", "falling", "needle", "huge", "ties")


def drawn(rng, queries, keys, head_dim, *, kinds=KINDS, leading=(), dtype="float32"):
    """q, k, v of one kind."""
    seed, kind = rng.getrandbits(32), rng.choice(kinds)
    how = {"leading": leading, "dtype": dtype}
    if kind == "climbing":
        return inputs.climbing(seed, queries, keys, head_dim, climb=rng.uniform(8, 25), **how)
    if kind == "falling":
        return inputs.climbing(seed, queries, keys, head_dim, climb=-rng.uniform(8, 25), **how)
    if kind == "needle":
        return inputs.needle(seed, queries, keys, head_dim, rng.randrange(keys), **how)
    if kind == "huge":
        return inputs.huge(seed, queries, keys, head_dim, largest=rng.uniform(2e3, 9e3), **how)
    if kind == "ties":
        return inputs.ties(seed, queries, keys, head_dim, **how)
    return inputs.peaked(seed, queries, keys, head_dim, query_scale=rng.uniform(1, 4), **how)


def compare(expect, case, got, tensors, causal=False, scale=None):
    """A pair that came back, against attention with its whole matrix."""
    import torch

    from kernels_ref.naive import attention, low_precision_attention

    seen, got = got, got.value
    out, lse = attention(*(each.double() for each in tensors), causal=causal, scale=scale)
    low_out, low_lse = low_precision_attention(*tensors, causal=causal, scale=scale, tf32=True)
    expect.that(isinstance(got, list | tuple) and len(got) == 2, f"{case}: a pair is needed, out and lse")
    formats = [getattr(each, "dtype", None) for each in got]
    wide = tensors[0].dtype != torch.float32 and formats[0] == torch.float32
    expect.that(not wide, f"{case}: out must have the format of q", symptom="out_in_fp32")
    half = formats[1] in (torch.float16, torch.bfloat16)
    expect.that(not half, f"{case}: lse must be in fp32", symptom="lse_in_half")
    suspects = mistaken.for_tiles(
        lambda tile: mistaken.forward(*tensors, tile, causal=causal, scale=scale), TILES
    )
    largest = float(lse[lse.isfinite()].abs().max()) if bool(lse.isfinite().any()) else 0.0
    how = {"case": case, "exponent": largest}
    expect.close(got[0], out, low_out, name="out", suspects=suspects["out"], **how)
    expect.close(got[1], lse, low_lse, name="lse", rows=-1, suspects=suspects["lse"], **how)
    by_kernels(expect, seen.evidence, tensors, causal)


def by_kernels(expect, evidence, tensors, causal):
    """What made the right values: kernels, in the format of the inputs. No number or name gives an input away."""
    from kernels_ref.naive import visible

    q, k, _ = tensors
    ops = {name.partition(".")[2].split(".")[0] for name in evidence.torch.ops}
    library = ops & HEAVY_OPS or any(op.startswith(("_scaled_dot_product", "conv")) for op in ops)
    launches = [launch for launch in evidence.launches if launch.config_index == 0]
    flops = sum(sum(launch.dot_flops.values()) for launch in launches)
    queries, keys, width = *q.shape[-2:-1], *k.shape[-2:]
    pairs = q.shape[:-2].numel() * (int(visible(queries, keys).sum()) if causal else queries * keys)
    worked = flops >= 4 * pairs * width or (flops == 0 and sum(launch.exps for launch in launches) >= pairs)
    expect.that(
        worked and not library,
        "PyTorch did the work",
        symptom="too_few_products" if flops else "library_attention",
    )
    used = {name for launch in launches for name in launch.dot_flops}
    narrow = used - {"fp32", "tf32"} if q.dtype.itemsize == 4 else used & {"fp8"}
    expect.that(not narrow, "dots run in less precision than the inputs have", symptom="narrow_dots")


HEAVY_OPS = {
    "_cdist_forward", "_safe_softmax", "_softmax", "_log_softmax", "_trilinear", "addbmm", "addmm", "addmv", "addr",
    "amax", "baddbmm", "bmm", "cumsum", "dot", "exp", "exp2", "expm1", "linear", "logaddexp", "logaddexp2", "logsumexp",
    "matmul", "max", "mean", "mkldnn_linear", "mm", "mv", "numpy", "pow", "prod", "sigmoid", "softmax", "sum", "tanh",
    "tolist", "vdot",
}  # fmt: skip
"""Operations of PyTorch without which it cannot compute attention, and that nothing beside a kernel needs."""


@pytest.mark.exercise("flash_attention.flash_forward", weight=12)
def test_any_square_attention(submission, expect, rng):
    """T of whole tiles, D = 64, fp32: scores that climb, fall, tie, overflow or have one key that counts."""
    for kind in KINDS:
        climbs = kind in ("climbing", "falling")  # over tiles: there must be some
        tokens = 64 * (rng.randint(2, 4) if climbs else rng.randint(1, 2))
        leading = () if climbs else rng.choice(((3,), (1, 2), (2, 1)))  # none that a visible check has
        tensors = drawn(rng, tokens, tokens, 64, kinds=(kind,), leading=leading)
        scale = rng.uniform(0.05, 0.3) if kind == "peaked" else None
        how = {} if scale is None else {"scale": scale}
        got = submission.flash_attention.flash_forward.metered(*tensors, **how)
        compare(expect, "a square attention", got, tensors, scale=scale)


@pytest.mark.exercise("flash_attention.flash_forward_shapes", weight=9)
def test_any_shape(submission, expect, rng):
    """Any T_q, T_k and leading dimensions; D of 32 to 256."""
    for head_dim in (32, 80, 96, 128, 256):
        queries, keys = rng.randint(1, 140), rng.randint(1, 170)
        tensors = drawn(rng, queries, keys, head_dim, leading=rng.choice(((), (2,), (1, 2))))
        compare(
            expect, "a ragged attention", submission.flash_attention.flash_forward.metered(*tensors), tensors
        )


@pytest.mark.exercise("flash_attention.flash_forward_half", weight=5)
def test_any_half_precision(submission, expect, rng):
    """fp16 and bf16, many keys, D of 64 and 128."""
    for dtype in ("float16", "bfloat16"):
        for kinds in (("peaked", "climbing", "falling"), ("ties",)):
            keys = 64 * rng.randint(3, 8)
            tensors = drawn(rng, 64, keys, rng.choice((64, 128)), kinds=kinds, dtype=dtype)
            compare(
                expect, "half precision", submission.flash_attention.flash_forward.metered(*tensors), tensors
            )


@pytest.mark.exercise("flash_attention.flash_forward_causal", weight=8)
def test_any_causal_attention(submission, expect, rng):
    """Causal with as many queries as keys, fewer, and more."""
    for difference in (0, 0, rng.randint(1, 90), -rng.randint(1, 60)):
        queries = rng.randint(70, 170)
        tensors = drawn(rng, queries, queries + difference, 64, kinds=("peaked", "climbing", "needle"))
        got = submission.flash_attention.flash_forward.metered(*tensors, causal=True)
        compare(expect, "a causal attention", got, tensors, causal=True)


@pytest.mark.exercise("flash_attention.flash_forward_gqa", weight=6)
def test_any_shared_heads_and_strides(submission, expect, rng):
    """Heads that share K and V, dimensions in any order in memory, tensors inside of larger ones."""
    import torch

    for dtype in ("float32", "bfloat16"):
        shared, group = rng.randint(1, 2), rng.choice((1, 2, 4))
        queries, keys = rng.randint(20, 64), rng.randint(20, 80)
        tensors = inputs.peaked(
            rng.getrandbits(32),
            queries,
            keys,
            64,
            leading=(2, shared * group),
            kv_leading=(2, shared),
            dtype=dtype,
        )
        strided = []
        for tensor in tensors:
            order = rng.sample(range(4), 4)
            back = [order.index(dimension) for dimension in range(4)]
            moved = tensor.permute(order).contiguous().permute(back)
            padded = torch.nn.functional.pad(moved, (0, rng.choice((0, 8))))
            strided.append(padded[..., :64])
        causal = rng.random() < 0.5
        got = submission.flash_attention.flash_forward.metered(*strided, causal=causal)
        compare(expect, "shared heads", got, strided, causal=causal)


@pytest.mark.exercise("flash_attention.efficiency", weight=6)
def test_any_attention_is_lean(submission, expect, rng):
    """Another T and D: bytes, FLOPs and temporaries as the visible checks ask for them."""
    for head_dim, causal in rng.choice((((64, False), (128, True)), ((64, True), (128, False)))):
        tokens = 128 * rng.randint(2, 3)
        tensors = drawn(rng, tokens, tokens, head_dim, kinds=("peaked",), dtype="bfloat16")
        seen = submission.flash_attention.flash_forward.metered(*tensors, causal=causal)
        compare(expect, "a lean attention", seen, tensors, causal=causal)
        launches = [launch for launch in seen.evidence.launches if launch.config_index == 0]
        expect.that(bool(launches), "no kernel was launched", symptom="library_attention")
        traffic = [each for launch in launches for each in launch.tensors]
        moved = sum(each.read_bytes + each.written_bytes for each in traffic)
        flops = sum(sum(launch.dot_flops.values()) for launch in launches)
        square = 4 * tokens**2 * head_dim
        # Tiles of 128 queries compute (n + 1) / 2n of the square under the causal mask, n = T / 128.
        most = square * (tokens // 128 + 1) / (2 * tokens // 128) if causal else square
        expect.that(
            flops <= most,
            "the dots do more FLOPs than they need to",
            symptom=("whole_square" if flops == square else "too_many_flops")
            if causal
            else "scores_computed_twice",
        )
        allowed = 2 * tokens * head_dim * 2 * (1 + tokens // 64)
        read = {name: sum(each.read_bytes for each in traffic if each.tensor == name) for name in "qkv"}
        keys = read["k"] + read["v"] - 2 * tensors[1].nbytes * (tokens // 64)
        symptoms = {
            "queries_loaded_again": read["q"] - tensors[0].nbytes >= 0.5 * (moved - allowed),
            "keys_loaded_too_often": keys >= 0.5 * (moved - allowed),
            "too_many_bytes": True,
        }
        expect.that(
            moved <= 1.1 * allowed,
            "too many bytes are moved",
            symptom=next(name for name, holds in symptoms.items() if holds),
        )
        largest = math.prod(seen.evidence.torch.largest_temporary_shape)
        expect.that(
            seen.evidence.torch.peak_temporary_bytes < 2 * tokens**2,
            "temporaries are as large as the scores",
            symptom="scores_in_memory" if largest >= tokens**2 else "other_temporaries",
        )
