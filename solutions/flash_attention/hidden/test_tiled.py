"""Hidden checks of tiled.py: fresh shapes, tiles, formats and masks against attention with its whole matrix."""

import pytest

from kernels_ref import inputs
from kernels_ref.sizes import gradient_sizes

CASES = 8


def random_case(rng, index):
    """q, k, v, and how attention is to be computed."""
    queries, keys, head_dim = rng.randint(1, 70), rng.randint(1, 90), rng.choice((8, 12, 20, 32))
    leading = rng.choice(((), (2,), (2, 3)))
    dtype = ("float32", "bfloat16", "float32", "float16")[index % 4]
    seed = rng.getrandbits(32)
    kind = rng.choice(("peaked", "climbing", "falling", "needle", "huge"))
    shape = (seed, queries, keys, head_dim)
    if kind == "climbing" or kind == "falling":
        tensors = inputs.climbing(
            *shape, climb=12.0 if kind == "climbing" else -12.0, leading=leading, dtype=dtype
        )
    elif kind == "needle":
        tensors = inputs.needle(*shape, rng.randrange(keys), leading=leading, dtype=dtype)
    elif kind == "huge" and dtype == "float32":
        tensors = inputs.huge(*shape, leading=leading)
    else:
        tensors = inputs.peaked(*shape, leading=leading, dtype=dtype, query_scale=2.0)
    how = {"block_q": rng.randint(3, 40), "block_k": rng.randint(3, 40), "causal": index % 2 == 1}
    if kind == "peaked" and rng.random() < 0.5:
        how["scale"] = rng.uniform(0.1, 0.6)
    return tensors, how


def largest(lse):
    """The largest finite lse, without its sign; 0 where there is none."""
    finite = lse[lse.isfinite()].abs()
    return float(finite.max()) if len(finite) else 0.0


def compare(expect, got, tensors, causal=False, scale=None):
    """(out, lse) that came back, against attention with its whole matrix."""
    from kernels_ref.naive import attention, low_precision_attention

    expect.that(isinstance(got, list | tuple) and len(got) == 2, "a pair is needed, out and lse")
    out, lse = attention(*(each.double() for each in tensors), causal=causal, scale=scale)
    low_out, low_lse = low_precision_attention(*tensors, causal=causal, scale=scale)
    expect.close(got[0], out, low_out, name="out", exponent=largest(lse))
    expect.close(got[1], lse, low_lse, name="lse", rows=-1, exponent=largest(lse))


@pytest.mark.exercise("flash_attention.tiled_attention", weight=6)
def test_any_attention_in_any_tiles(submission, expect, rng):
    """Any shape, tiles, format and scale, causal or not, with scores that climb, fall, or have one winner."""
    for index in range(CASES):
        tensors, how = random_case(rng, index)
        got = submission.flash_attention.tiled_attention(*tensors, **how)
        compare(expect, got, tensors, how["causal"], how.get("scale"))


@pytest.mark.exercise("flash_attention.tiled_attention", weight=2)
def test_the_future_does_not_matter(submission, expect, rng):
    """Causal: other later keys give the same earlier rows. Without a mask: keys and values permuted together do."""
    import torch

    tokens = rng.randint(40, 70)
    q, k, v = inputs.peaked(rng.getrandbits(32), tokens, tokens, 16, query_scale=2.0)
    cut = rng.randint(10, 30)
    k_other, v_other = k.clone(), v.clone()
    k_other[cut:], v_other[cut:] = 3 * k[cut:].flip(0), -5 * v[cut:]
    got = submission.flash_attention.tiled_attention(q, k_other, v_other, 16, 16, True)
    compare(expect, got, (q, k_other, v_other), True)
    expect.that(
        isinstance(got[0], torch.Tensor) and got[0].shape == q.shape,
        "out has the wrong shape",
    )
    first = submission.flash_attention.tiled_attention(q, k, v, 16, 16, True)
    compare(expect, first, (q, k, v), True)
    same = bool((got[0][:cut] - first[0][:cut]).abs().max() <= 1e-5 * first[0][:cut].abs().max())
    expect.that(same, "rows change with keys that they cannot see")
    order = torch.randperm(tokens, generator=torch.Generator().manual_seed(rng.getrandbits(32)))
    got = submission.flash_attention.tiled_attention(q, k[order], v[order], 16, 16)
    compare(expect, got, (q, k, v))


def without_a_matrix(submission, expect, rng, causal):
    """At some T no tensor is made that grows with T²."""
    tokens = rng.randint(240, 280)
    tensors = inputs.peaked(rng.getrandbits(32), tokens, tokens, 16)
    how = {"block_q": 20, "block_k": 20, "causal": causal}
    report = submission.flash_attention.tiled_attention.probed(
        "temporaries", "call", args=list(tensors), kwargs=how
    )
    whole = isinstance(report, dict) and type(report.get("largest_bytes")) is int and "value" in report
    expect.that(whole, "no whole report came back")
    compare(expect, report["value"], tensors, causal)
    # Twice an fp32 tensor of all rows and one tile's columns; a mask of T² has more.
    expect.that(report["largest_bytes"] <= 2 * tokens * 20 * 4, "a tensor is made that grows with T²")
    expect.that(report.get("library") is False, "torch's own attention did the work")


@pytest.mark.exercise("flash_attention.tiled_attention", weight=7)
def test_any_attention_without_a_matrix(submission, expect, rng):
    """At some T, whatever tiles divide, no tensor is made that grows with T²."""
    without_a_matrix(submission, expect, rng, causal=False)


@pytest.mark.exercise("flash_attention.tiled_attention", weight=2)
def test_any_causal_attention_without_a_matrix(submission, expect, rng):
    """Causal too, at some T."""
    without_a_matrix(submission, expect, rng, causal=True)


def finished(rng, tensors, causal, scale=None):
    """q, k, v with out, lse and a gradient of out."""
    from kernels_ref.naive import low_precision_attention

    out, lse = low_precision_attention(*tensors, causal=causal, scale=scale)
    return *tensors, out, lse, inputs.gradient(rng.getrandbits(32), out)


def compare_gradients(expect, got, given, causal, scale=None):
    """(dq, dk, dv) that came back, against those of attention with its whole matrix."""
    from kernels_ref.naive import attention_backward, low_precision_attention_backward

    q, k, v, _, lse, grad_out = given
    wide = (each.double() for each in (q, k, v, grad_out))
    wanted = attention_backward(*wide, causal=causal, scale=scale)
    low = low_precision_attention_backward(q, k, v, grad_out, causal=causal, scale=scale)
    expect.that(isinstance(got, list | tuple) and len(got) == 3, "three gradients are needed, dq, dk and dv")
    natural = gradient_sizes(q, k, v, grad_out, scale=scale)
    for answer, right, trusted, name in zip(got, wanted, low, ("dq", "dk", "dv"), strict=True):
        expect.close(answer, right, trusted, name=name, exponent=largest(lse), natural=natural[name])


@pytest.mark.exercise("flash_attention.tiled_backward", weight=6)
def test_any_gradients_in_any_tiles(submission, expect, rng):
    """Any shape, tiles, format and scale, causal or not, with scores that climb, fall, or have one winner."""
    for index in range(CASES):
        tensors, how = random_case(rng, index)
        given = finished(rng, tensors, how["causal"], how.get("scale"))
        got = submission.flash_attention.tiled_backward(*given, **how)
        compare_gradients(expect, got, given, how["causal"], how.get("scale"))


@pytest.mark.exercise("flash_attention.tiled_backward", weight=4)
def test_any_pass_through_the_function(submission, expect, rng):
    """Both passes of TiledAttention on other shapes, causal and not, without a tensor that grows with T²."""
    from kernels_ref.naive import attention, low_precision_attention

    for causal in (False, True):
        tokens = rng.randint(380, 440)
        tensors = inputs.peaked(rng.getrandbits(32), tokens, tokens, 16, query_scale=2.0)
        given = finished(rng, tensors, causal)
        report = submission.flash_attention.TiledAttention.probed(
            "temporaries", "autograd", inputs=list(tensors), causal=causal, grad_out=given[-1]
        )
        kinds = {"largest_bytes": int, "kept_bytes": int, "gradients": list}
        whole = isinstance(report, dict) and all(type(report.get(name)) is kinds[name] for name in kinds)
        expect.that(whole, "no whole report came back")
        out, _ = attention(*(each.double() for each in tensors), causal=causal)
        expect.close(report.get("out"), out, low_precision_attention(*tensors, causal=causal)[0], name="out")
        compare_gradients(expect, report["gradients"], given, causal)
        got = submission.flash_attention.tiled_backward(*given, causal=causal)
        compare_gradients(expect, got, given, causal)
        expect.that(report["kept_bytes"] <= 8 * tokens * 4, "more stays alive than one number a query")
        expect.that(report["largest_bytes"] <= 128 * 1024, "a tensor is made that grows with T²")
