"""Hidden checks of decode.py: fresh caches, parts, heads, strides and formats against attention of all keys at once."""

import math

import pytest

from kernels_ref import inputs

CASES = 8
HEAVY_OPS = {"addmm", "baddbmm", "bmm", "einsum", "matmul", "mm", "mv", "numpy", "_softmax"}


def random_case(rng, index):
    """q, k, v of one token, and how the keys are to be split."""
    kv_heads, group, batch = rng.choice((1, 2)), rng.choice((1, 2, 3, 5)), rng.choice((1, 2))
    shape = (rng.getrandbits(32), 1, rng.randint(1, 300), rng.choice((32, 64, 80)))
    dtype = ("float32", "bfloat16", "float32", "float16")[index % 4]
    heads = kv_heads * group
    if rng.random() < 0.3:
        climb = rng.choice((30.0, -30.0))
        tensors = inputs.climbing(*shape, climb=climb, leading=(batch, kv_heads), dtype=dtype)
    else:
        tensors = inputs.peaked(
            *shape, leading=(batch, heads), kv_leading=(batch, kv_heads), dtype=dtype, query_scale=2.0
        )
    if rng.random() < 0.5:
        q, k, v = tensors
        tensors = q, *(each.transpose(1, 2).contiguous().transpose(1, 2) for each in (k, v))
    how = {"splits": rng.randint(1, 9)}
    if rng.random() < 0.5:
        how["scale"] = rng.uniform(0.05, 0.3)
    return tensors, how


def compare(expect, got, tensors, scale=None):
    """A pair that came back, against attention of all keys at once."""
    from kernels_ref.naive import attention, low_precision_attention

    expect.that(isinstance(got, list | tuple) and len(got) == 2, "a pair is needed, out and lse")
    right = attention(*(each.double() for each in tensors), scale=scale)
    low = low_precision_attention(*tensors, scale=scale, tf32=True)
    exponent = float(right[1].abs().max())
    expect.close(got[0], right[0], low[0], name="out", rows=-3, exponent=exponent)
    expect.close(got[1], right[1], low[1], name="lse", rows=-2, exponent=exponent)


def by_kernels(expect, evidence, tensors):
    """The launches, which see every score."""
    launches = [launch for launch in evidence.launches if launch.config_index == 0]
    expect.that(bool(launches), "no kernel was launched", symptom="library_decode")
    ran = {name.partition(".")[2].split(".")[0] for name in evidence.torch.ops}
    scores = tensors[0].shape[:-1].numel() * tensors[1].shape[-2]
    expect.that(
        not ran & HEAVY_OPS and sum(launch.exps for launch in launches) >= scores,
        "the kernels do not compute all scores",
        symptom="decode_beside_the_kernels",
    )
    return launches


@pytest.mark.exercise("flash_attention.flash_decode", weight=6)
def test_any_cache_in_any_parts(submission, expect, rng):
    """Any number of keys, parts, heads and batch, any strides, format and scale; part sums far apart."""
    for index in range(CASES):
        tensors, how = random_case(rng, index)
        seen = submission.flash_attention.flash_decode.metered(*tensors, **how)
        compare(expect, seen.value, tensors, how.get("scale"))
        by_kernels(expect, seen.evidence, tensors)


@pytest.mark.exercise("flash_attention.flash_decode", weight=3)
def test_any_cache_is_split_over_programs(submission, expect, rng):
    """With other numbers of parts: a program for each, one exponential a score at least, the cache read once."""
    for splits in (rng.randint(3, 5), rng.randint(6, 8)):
        keys = 64 * splits + rng.randint(1, 60)
        tensors = inputs.peaked(rng.getrandbits(32), 1, keys, 64, leading=(1, 6), kv_leading=(1, 2))
        seen = submission.flash_attention.flash_decode.metered(*tensors, splits=splits)
        compare(expect, seen.value, tensors)
        launches = by_kernels(expect, seen.evidence, tensors)
        reading = max(launches, key=lambda launch: sum(traffic.read_bytes for traffic in launch.tensors))
        expect.that(math.prod(reading.grid) >= 2 * splits, "the keys are not split", symptom="keys_not_split")
        read = sum(traffic.read_bytes for launch in launches for traffic in launch.tensors)
        expect.that(
            read <= 1.5 * (tensors[1].nbytes + tensors[2].nbytes),
            "the cache is read more than once",
            symptom="cache_read_for_each_head",
        )
