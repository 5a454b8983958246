"""Visible checks of decode.py: section 10.

The right values are those of attention with its whole score matrix, in fp64; tolerances follow from what an honest
computation is off on the same inputs.
"""

import math

import pytest

from kernels_ref import inputs

TILES = (16, 32, 64, 128)
"""Keys in a tile that students use: what parts that overlap give depends on it."""
HEAVY_OPS = {
    "addbmm", "addmm", "baddbmm", "bmm", "einsum", "linear", "matmul", "mm", "mv", "softmax", "_softmax",
    "_safe_softmax", "_scaled_dot_product_attention_math", "_scaled_dot_product_flash_attention_for_cpu", "numpy",
}  # fmt: skip
"""Operations of PyTorch that only attention outside of the kernels needs; `Tensor.numpy` is one."""


def suspects_of(tensors, splits, right, scale=None):
    """What the usual mistakes give, as {"out", "lse": by symptom}."""
    import torch

    from kernels_ref.naive import attention, softmax_scale

    q, k, v = (each.double() for each in tensors)
    heads, (kv_heads, keys) = q.shape[1], k.shape[1:3]

    def parts(place):
        cut = zip(k.chunk(splits, -2), v.chunk(splits, -2), strict=True)
        return torch.stack([attention(q, *part, scale=scale)[place] for part in cut])

    def on(rows):
        return lambda: attention(q, k[..., rows, :], v[..., rows, :], scale=scale)

    def by_remainder():
        head = torch.arange(heads) % kv_heads
        return attention(q, k[:, head], v[:, head], scale=scale)

    def overlapping(tile):
        size = -(-keys // splits)
        ends = [(first, min(keys, first + -(-size // tile) * tile)) for first in range(0, keys, size)]
        return on([row for first, end in ends for row in range(first, end)])

    def merged_by_maximum():
        factor = softmax_scale(q, scale)
        group = heads // kv_heads
        scores = factor * q @ k.repeat_interleave(group, 1).mT
        largest = torch.stack([part.amax(-1) for part in scores.chunk(splits, -1)])
        total = (largest - scores.amax(-1)).exp().sum(0)
        weights = (scores - scores.amax(-1, keepdim=True)).exp()
        out = weights @ v.repeat_interleave(group, 1) / total[..., None]
        return out, scores.amax(-1) + total.log()

    both = {
        "heads_modulo": [by_remainder],
        "keys_shared_by_parts": [overlapping(tile) for tile in TILES],
        "parts_not_divided": [merged_by_maximum],
        "empty_part_nan": [lambda: tuple(each * math.nan for each in right)],
    }
    whole = keys // splits * splits
    if whole:
        both["remainder_dropped"] = [on(slice(whole))]
    if scale is not None:
        both["scale_ignored"] = [lambda: attention(q, k, v)]
    found = {
        name: {
            symptom: [lambda compute=compute, place=place: compute()[place] for compute in computes]
            for symptom, computes in both.items()
        }
        for place, name in enumerate(("out", "lse"))
    }
    found["out"] |= {
        "parts_averaged": lambda: parts(0).mean(0),
        "parts_added": lambda: parts(0).sum(0),
        "first_part_only": lambda: parts(0)[0],
        "last_part_only": lambda: parts(0)[-1],
    }
    found["lse"] |= {
        "lse_of_largest_part": lambda: parts(1).amax(0),
        "lse_added": lambda: parts(1).sum(0),
        "lse_in_base_two": lambda: right[1] / math.log(2),
        "first_part_only": lambda: parts(1)[0],
        "last_part_only": lambda: parts(1)[-1],
    }
    return found


def compare(expect, case, got, tensors, splits, scale=None):
    """A pair that came back, against attention of all keys at once."""
    import torch

    from kernels_ref.naive import attention, low_precision_attention

    pair = isinstance(got, list | tuple) and len(got) == 2
    expect.that(pair, f"{case}: flash_decode must return a pair, out and lse")
    q, k, _ = tensors
    if k.shape[-2]:
        right = attention(*(each.double() for each in tensors), scale=scale)
        low = low_precision_attention(*tensors, scale=scale, tf32=True)
    else:
        low = torch.zeros_like(q), torch.full(q.shape[:-1], -math.inf)
        right = tuple(each.double() for each in low)
    wrong = suspects_of(tensors, splits, right, scale) if k.shape[-2] else {"out": {}, "lse": {}}
    if not k.shape[-2]:
        wrong["out"]["empty_part_nan"] = lambda: right[0] * math.nan
    how = {"case": case, "exponent": float(right[1].abs().max()) if k.shape[-2] else 0.0}
    expect.close(got[0], right[0], low[0], name="out", rows=-3, suspects=wrong["out"], **how)
    expect.close(got[1], right[1], low[1], name="lse", rows=-2, suspects=wrong["lse"], **how)


def check(submission, expect, case, tensors, splits, scale=None):
    """One call, compared."""
    how = {} if scale is None else {"scale": scale}
    seen = submission.flash_attention.flash_decode.metered(*tensors, splits=splits, **how)
    compare(expect, case, seen.value, tensors, splits, scale)
    by_kernels(expect, case, seen.evidence, tensors)


def by_kernels(expect, case, evidence, tensors):
    """What made the right values: kernels that see every score. Right values of a library earn nothing."""
    q, k, _ = tensors
    launches = [launch for launch in evidence.launches if launch.config_index == 0]
    scores = q.shape[:-1].numel() * k.shape[-2]
    if not scores:
        return launches  # no keys: nothing to launch a kernel for
    expect.that(
        bool(launches), f"{case}: no kernel was launched: PyTorch did the work", symptom="library_decode"
    )
    library = [name for name in evidence.torch.ops if name.partition(".")[2].split(".")[0] in HEAVY_OPS]
    exponentials = sum(launch.exps for launch in launches)
    expect.that(
        not library and exponentials >= scores,
        f"{case}: the kernels take {exponentials:,} exponentials for {scores:,} scores, and PyTorch runs "
        f"{', '.join(sorted(library)) or 'nothing'} beside them",
        symptom="decode_beside_the_kernels",
    )
    return launches


@pytest.mark.exercise("flash_attention.flash_decode", weight=3)
def test_parts_are_weighted_by_their_logsumexp(submission, expect):
    """256 keys in 1, 2 and 4 parts: the same answer, whichever part has the weight."""
    for splits in (1, 2, 4):
        tensors = inputs.peaked(901, 1, 256, 64, leading=(2, 2), query_scale=2.0)
        check(submission, expect, f"{splits} parts", tensors, splits)
    tensors = inputs.peaked(903, 1, 200, 64, leading=(1, 2), query_scale=2.0)
    check(submission, expect, "2 parts, scale 0.2", tensors, 2, scale=0.2)
    check(submission, expect, "scores that climb", inputs.climbing(902, 1, 256, 64, leading=(1, 2)), 4)


@pytest.mark.exercise("flash_attention.flash_decode", weight=2)
def test_every_key_is_in_one_part(submission, expect):
    """Key counts that no number of parts divides, more parts than tiles, so that some are empty, and no key at all."""
    for keys, splits in ((333, 4), (100, 3), (20, 8), (1, 4), (0, 2)):
        tensors = inputs.peaked(910 + keys, 1, keys, 64, leading=(1, 2), query_scale=2.0)
        check(submission, expect, f"{keys} keys in {splits} parts", tensors, splits)


@pytest.mark.exercise("flash_attention.flash_decode", weight=2)
def test_query_heads_share_a_cache(submission, expect):
    """8 query heads on 2, bf16 and fp16, D = 128 and 80; a cache whose heads lie between the tokens."""
    tensors = inputs.peaked(920, 1, 150, 128, leading=(1, 8), kv_leading=(1, 2), dtype="bfloat16")
    check(submission, expect, "bf16, D = 128", tensors, 2)
    q, k, v = inputs.peaked(921, 1, 90, 80, leading=(2, 4), kv_leading=(2, 1), dtype="float16")
    between = [each.transpose(1, 2).contiguous().transpose(1, 2) for each in (k, v)]
    check(submission, expect, "fp16, D = 80", (q, *between), 2)


@pytest.mark.exercise("flash_attention.flash_decode", weight=2)
def test_the_keys_are_split_over_programs(submission, expect):
    """512 keys in 4 parts: at least 4 programs a shared head, and the cache is read once."""
    tensors = inputs.peaked(930, 1, 512, 64, leading=(1, 4), kv_leading=(1, 1), dtype="bfloat16")
    seen = submission.flash_attention.flash_decode.metered(*tensors, splits=4)
    compare(expect, "512 keys in 4 parts", seen.value, tensors, 4)
    launches = by_kernels(expect, "512 keys in 4 parts", seen.evidence, tensors)
    reading = max(launches, key=lambda launch: sum(traffic.read_bytes for traffic in launch.tensors))
    programs = math.prod(reading.grid)
    expect.that(
        programs >= 4,
        f"the launch that reads the cache has {programs} programs for 4 parts: the keys are not split",
        symptom="keys_not_split",
    )
    read = sum(traffic.read_bytes for launch in launches for traffic in launch.tensors)
    cache = tensors[1].nbytes + tensors[2].nbytes
    expect.measured("read", read / cache, "× the cache")
    expect.that(
        read <= 1.5 * cache,
        f"{read / cache:.2g} times the cache is read: the query heads that share it fit into one tile",
        symptom="cache_read_for_each_head",
    )
