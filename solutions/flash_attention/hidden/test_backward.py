"""Hidden checks of backward.py: fresh shapes, heads, strides and formats against attention with its whole matrix."""

import pytest

from kernels_ref import inputs

CASES = 6
HEAVY_OPS = {"addmm", "baddbmm", "bmm", "einsum", "matmul", "mm", "mv", "numpy", "_softmax"}


def random_case(rng, index):
    """q, k, v, and how attention is to be computed."""
    queries, keys, width = rng.randint(1, 110), rng.randint(1, 130), rng.choice((32, 64, 80, 96))
    leading, kv_leading = rng.choice(
        (((), ()), ((2,), (2,)), ((4,), (2,)), ((2, 2), (2, 1)), ((1, 3), (1, 1)))
    )
    dtype = ("float32", "bfloat16", "float32", "float16")[index % 4]
    shape = (rng.getrandbits(32), queries, keys, width)
    kind = rng.choice(("peaked", "climbing", "needle")) if leading == kv_leading else "peaked"
    if kind == "climbing":
        tensors = inputs.climbing(*shape, climb=rng.choice((12.0, -12.0)), leading=leading, dtype=dtype)
    elif kind == "needle":
        tensors = inputs.needle(*shape, rng.randrange(keys), leading=leading, dtype=dtype)
    else:
        tensors = inputs.peaked(*shape, leading=leading, kv_leading=kv_leading, dtype=dtype, query_scale=2.0)
    if rng.random() < 0.5:
        tensors = tuple(between(each) for each in tensors)
    how = {"causal": True} if index % 2 else {}
    if rng.random() < 0.5:
        how["scale"] = rng.uniform(0.05, 0.3)
    return tensors, how


def between(x):
    """The same values with the last dimensions in another order in memory."""
    return x.mT.contiguous().mT if x.ndim < 3 else x.transpose(-2, -3).contiguous().transpose(-2, -3)


def largest(lse):
    """The largest finite lse, without its sign; 0 where there is none."""
    finite = lse[lse.isfinite()].abs()
    return float(finite.max()) if len(finite) else 0.0


def finished(rng, tensors, causal=False, scale=None):
    """q, k, v with out, lse and a gradient of out."""
    from kernels_ref.naive import low_precision_attention

    out, lse = low_precision_attention(*tensors, causal=causal, scale=scale)
    grad_out = inputs.gradient(rng.getrandbits(32), out)
    return *tensors, out, lse, between(grad_out) if rng.random() < 0.5 else grad_out


def compare(expect, got, given, causal=False, scale=None):
    """(dq, dk, dv) that came back, against those of attention with its whole matrix."""
    from kernels_ref.naive import attention_backward, low_precision_attention_backward

    q, k, v, out, lse, grad_out = given
    wide = (each.double() for each in (q, k, v, grad_out))
    wanted = attention_backward(*wide, causal=causal, scale=scale)
    low = low_precision_attention_backward(
        q, k, v, grad_out, causal=causal, scale=scale, tf32=True, saved=(out, lse)
    )
    expect.that(isinstance(got, list | tuple) and len(got) == 3, "three gradients are needed, dq, dk and dv")
    for answer, right, trusted, name in zip(got, wanted, low, ("dq", "dk", "dv"), strict=True):
        expect.close(answer, right, trusted, name=name, exponent=largest(lse))


def by_kernels(expect, evidence, given, causal=False):
    """What made the right gradients: kernels that do the products."""
    from kernels_ref.naive import visible

    launches = [launch for launch in evidence.launches if launch.config_index == 0]
    expect.that(bool(launches), "no kernel was launched", symptom="library_backward")
    ran = {name.partition(".")[2].split(".")[0] for name in evidence.torch.ops}
    q, k = given[:2]
    queries, width, keys = *q.shape[-2:], k.shape[-2]
    pairs = q.shape[:-2].numel() * (int(visible(queries, keys).sum()) if causal else queries * keys)
    flops = sum(sum(launch.dot_flops.values()) for launch in launches)
    exponentials = sum(launch.exps for launch in launches)
    expect.that(
        not ran & HEAVY_OPS and (flops >= 10 * pairs * width or (flops == 0 and exponentials >= pairs)),
        "the kernels do less than the five products",
        symptom="backward_beside_the_kernels",
    )


@pytest.mark.exercise("flash_attention.flash_backward", weight=12)
def test_any_gradients(submission, expect, rng):
    """Any shape, heads, strides, format and scale, causal or not; scores that climb, fall, or have one winner."""
    for index in range(CASES):
        tensors, how = random_case(rng, index)
        given = finished(rng, tensors, **how)
        seen = submission.flash_attention.flash_backward.metered(*given, **how)
        compare(expect, seen.value, given, **how)
        by_kernels(expect, seen.evidence, given, how.get("causal", False))


@pytest.mark.exercise("flash_attention.flash_backward", weight=4)
def test_any_gradients_come_from_kernels(submission, expect, rng):
    """At another T, the kernels' dots do the five products, and no temporary grows with T²."""
    tokens = rng.randint(200, 250)
    given = finished(rng, inputs.peaked(rng.getrandbits(32), tokens, tokens, 32, dtype="float16"))
    seen = submission.flash_attention.flash_backward.metered(*given)
    compare(expect, seen.value, given)
    by_kernels(expect, seen.evidence, given)
    expect.that(
        seen.evidence.torch.peak_temporary_bytes < tokens * tokens * 2,
        "a temporary grows with T²",
        symptom="scores_in_memory",
    )


@pytest.mark.exercise("flash_attention.flash_backward", weight=4)
def test_any_pass_through_the_function(submission, expect, rng):
    """Both passes of FlashAttention on other shapes, causal and not."""
    from kernels_ref.naive import attention, low_precision_attention

    for causal in (True, False):
        shape = (rng.getrandbits(32), rng.randint(30, 70), rng.randint(30, 100), 32)
        tensors = inputs.peaked(*shape, leading=(2,), kv_leading=(rng.choice((1, 2)),), query_scale=2.0)
        given = finished(rng, tensors, causal=causal)
        answer = submission.flash_attention.FlashAttention.gradients(
            *tensors, causal, grad_outputs=given[-1], wrt=(0, 1, 2)
        )
        pair = isinstance(answer, list | tuple) and len(answer) == 2
        expect.that(pair, "no output with its gradients came back")
        right, lse = attention(*(each.double() for each in tensors), causal=causal)
        low, _ = low_precision_attention(*tensors, causal=causal, tf32=True)
        expect.close(answer[0], right, low, name="out", exponent=largest(lse))
        compare(expect, answer[1], given, causal)
