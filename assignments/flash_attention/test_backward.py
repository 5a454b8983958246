"""Visible checks of backward.py: section 8.

The right gradients are those of attention with its whole score matrix, in fp64. How far from them an answer may be
follows from what an honest computation is off on the same inputs. `out` and `lse` are handed in, and are right.
"""

import math

import pytest

from kernels_ref import inputs, mistaken

TILES = (16, 32, 64, 128)
"""Rows in a tile that students use: what the usual mistakes give depends on it."""


def finished(seed, tensors, causal=False, scale=None):
    """q, k, v with the out and lse of their forward pass, and a gradient of out."""
    from kernels_ref.naive import low_precision_attention

    out, lse = low_precision_attention(*tensors, causal=causal, scale=scale)
    return *tensors, out, lse, inputs.gradient(seed, out)


def suspects_of(given, wanted, causal, scale):
    """What the usual mistakes give, as {"dq", "dk", "dv": by symptom}."""
    from kernels_ref.naive import attention_backward

    q, k, v, _, _, grad_out = given

    def of(q, grad):
        wide = (each.double() for each in (q, k, v, grad))
        return attention_backward(*wide, causal=causal, scale=scale)

    def misread():
        plain = grad_out.as_strided(grad_out.shape, grad_out.new_empty(grad_out.shape).stride())
        return of(q, plain)

    suspects = {"dq": {}, "dk": {}, "dv": {}}
    if q.shape[:-2] == k.shape[:-2]:
        suspects = mistaken.for_tiles(
            lambda tile: mistaken.backward(*given, tile, tile, causal=causal, scale=scale), TILES
        )
        for name, found in of_statistics(given, causal, scale).items():
            suspects[name] |= found
        if q.dtype.itemsize == 2:
            suspects["dv"]["gradients_in_half"] = [
                lambda tile=tile: rounded_sum(given, tile) for tile in TILES
            ]
        suspects["dk"]["dk_and_dv_swapped"] = lambda: wanted[2]
        suspects["dv"]["dk_and_dv_swapped"] = lambda: wanted[1]
        if causal:
            for name, found in of_skipped_queries(given, causal, scale).items():
                suspects[name]["first_query_rounded_up"] = found
            for place, name in ((1, "dk"), (2, "dv")):
                suspects[name]["unseen_nan"] += [
                    lambda tile=tile, place=place: nan_from_unseen(wanted[place], q.shape[-2], tile)
                    for tile in TILES
                ]
    elif q.ndim >= 3:
        group = q.shape[-3] // k.shape[-3]
        for place, name in ((1, "dk"), (2, "dv")):
            suspects[name]["one_head_of_group"] = [
                lambda member=member, place=place: of(
                    q[..., member::group, :, :], grad_out[..., member::group, :, :]
                )[place]
                for member in range(group)
            ]
    for place, name in enumerate(suspects):
        suspects[name]["grad_out_strides"] = lambda place=place: misread()[place]
    return suspects


def rounded_sum(given, tile):
    """dV where the sum is rounded to 16 bits after every tile of queries; no mask."""
    import torch

    *_, grad_out, p, _, _ = exact(given, False, None)
    p, total = p.to(given[2].dtype).double(), torch.zeros_like(given[2])
    for start in range(0, p.shape[-2], tile):
        rows = slice(start, start + tile)
        total = (total.double() + p[..., rows, :].mT @ grad_out[..., rows, :]).to(total.dtype)
    return total.double()


def exact(given, causal, scale):
    """q, k, v, out, grad_out, P and dP in fp64, and the scale."""
    from kernels_ref.naive import attention, softmax_scale, visible

    q, k, v, _, _, grad_out = (each.double() for each in given)
    scores = q @ k.mT * softmax_scale(q, scale)
    if causal:
        scores = scores.masked_fill(~visible(*scores.shape[-2:]), -math.inf)
    out, lse = attention(q, k, v, causal=causal, scale=scale)
    p = (scores - lse.masked_fill(lse == -math.inf, 0.0)[..., None]).exp()
    return q, k, out, lse, grad_out, p, grad_out @ v.mT, softmax_scale(q, scale)


def of_statistics(given, causal, scale):
    """What comes of an lse taken as base 2, and of a delta that is the sum of out · out."""

    def from_base_two(place):
        q, k, out, lse, grad_out, p, dp, factor = exact(given, causal, scale)
        excess = (lse * (1 - math.log(2))).masked_fill(lse == -math.inf, 0.0)
        p = p * excess[..., None].exp()
        ds = p * (dp - (out * grad_out).sum(-1, keepdim=True))
        return (factor * ds @ k, factor * ds.mT @ q, p.mT @ grad_out)[place]

    def from_out(place):
        q, k, out, _, _, p, dp, factor = exact(given, causal, scale)
        ds = p * (dp - out.square().sum(-1, keepdim=True))
        return (factor * ds @ k, factor * ds.mT @ q)[place]

    return {
        "dq": {"lse_as_base_two": lambda: from_base_two(0), "delta_of_out": lambda: from_out(0)},
        "dk": {"lse_as_base_two": lambda: from_base_two(1), "delta_of_out": lambda: from_out(1)},
        "dv": {"lse_as_base_two": lambda: from_base_two(2)},
    }


def of_skipped_queries(given, causal, scale):
    """dK and dV where a tile of keys begins with the first whole tile of queries that sees it."""
    import torch

    ahead = given[1].shape[-2] - given[0].shape[-2]

    def skipped(tile, place):
        q, _, out, _, grad_out, p, dp, factor = exact(given, causal, scale)
        queries, keys = p.shape[-2:]
        first = (torch.arange(keys) // tile * tile - ahead).clamp(min=0)
        p = p.masked_fill(torch.arange(queries)[:, None] < -(-first // tile) * tile, 0.0)
        ds = p * (dp - (out * grad_out).sum(-1, keepdim=True))
        return factor * ds.mT @ q if place == 1 else p.mT @ grad_out

    return {
        "dk": [lambda tile=tile: skipped(tile, 1) for tile in TILES],
        "dv": [lambda tile=tile: skipped(tile, 2) for tile in TILES],
    }


def nan_from_unseen(gradient, queries, tile):
    """dK or dV with NaN in the tiles of keys whose first tile of queries has one that sees nothing."""
    import torch

    keys = gradient.shape[-2]
    first = (torch.arange(keys) // tile * tile + queries - keys).clamp(min=0) // tile * tile
    return gradient.masked_fill((first < queries - keys)[:, None], math.nan)


def compare(expect, case, got, given, causal=False, scale=None):
    """(dq, dk, dv) that came back, against those of attention with its whole matrix."""
    from kernels_ref.naive import attention_backward, low_precision_attention_backward

    q, k, v, out, lse, grad_out = given
    wide = (each.double() for each in (q, k, v, grad_out))
    wanted = attention_backward(*wide, causal=causal, scale=scale)
    low = low_precision_attention_backward(
        q, k, v, grad_out, causal=causal, scale=scale, tf32=True, saved=(out, lse)
    )
    three = isinstance(got, list | tuple) and len(got) == 3
    expect.that(three, f"{case}: three gradients are needed, dq, dk and dv")
    suspects = suspects_of(given, wanted, causal, scale)
    for name, place in {"dv": 2, "dq": 0, "dk": 1}.items():
        expect.close(
            got[place],
            wanted[place],
            low[place],
            case=case,
            name=name,
            exponent=float(lse[lse.isfinite()].abs().max()),
            suspects=suspects[name],
        )


def check(submission, expect, case, given, causal=False, scale=None):
    """One call, compared; defaults are left to the function."""
    how = {"causal": True} if causal else {}
    how |= {} if scale is None else {"scale": scale}
    seen = submission.flash_attention.flash_backward.metered(*given, **how)
    compare(expect, case, seen.value, given, causal, scale)
    by_kernels(expect, case, seen.evidence, given, causal)


def by_kernels(expect, case, evidence, given, causal=False):
    """What made the right gradients: kernels that do the products. Right gradients of a library earn nothing."""
    from kernels_ref.naive import visible

    launches = [launch for launch in evidence.launches if launch.config_index == 0]
    expect.that(
        bool(launches), f"{case}: no kernel was launched: PyTorch did the work", symptom="library_backward"
    )
    library = [name for name in evidence.torch.ops if name.partition(".")[2].split(".")[0] in HEAVY_OPS]
    expect.that(
        not library,
        f"{case}: PyTorch does work of the kernels: {', '.join(sorted(library))}",
        symptom="backward_beside_the_kernels",
    )
    q, k = given[:2]
    queries, width, keys = *q.shape[-2:], k.shape[-2]
    seen = int(visible(queries, keys).sum()) if causal else queries * keys
    pairs = q.shape[:-2].numel() * seen
    flops, least = sum(sum(launch.dot_flops.values()) for launch in launches), 10 * pairs * width
    # Products without tl.dot are slow but honest: then the exponentials tell that the kernels saw every score.
    expect.that(
        flops >= least or (flops == 0 and sum(launch.exps for launch in launches) >= pairs),
        f"{case}: the kernels' dots do {flops:,} FLOPs, and five products take {least:,}",
        symptom="backward_beside_the_kernels",
    )


@pytest.mark.exercise("flash_attention.flash_backward", weight=3)
def test_gradients_are_those_of_attention(submission, expect):
    """dV = PᵀdO, dS = P·(dP − delta), dQ = scale·dS·K, dK = scale·dSᵀ·Q."""
    tensors = inputs.peaked(801, 64, 64, 64, leading=(2,), query_scale=2.0)
    check(submission, expect, "T = 64, scale 1/√D", finished(1, tensors))
    check(submission, expect, "T = 64, scale 0.2", finished(1, tensors, scale=0.2), scale=0.2)


@pytest.mark.exercise("flash_attention.flash_backward", weight=2)
def test_gradients_add_up_over_all_tiles(submission, expect):
    """T of 200 and 150: dQ is summed over the tiles of keys, dK and dV over the tiles of queries."""
    for tokens in (200, 150):
        given = finished(2, inputs.peaked(802, tokens, tokens, 64, query_scale=2.0))
        check(submission, expect, f"T = {tokens}", given)


@pytest.mark.exercise("flash_attention.flash_backward", weight=2)
def test_gradients_of_ragged_shapes(submission, expect):
    """T_q ≠ T_k, no multiples of a tile, D of 32, 80 and 128."""
    for queries, keys, width in ((70, 33, 32), (33, 100, 80), (65, 65, 128)):
        tensors = inputs.peaked(810 + queries, queries, keys, width, query_scale=2.0)
        check(submission, expect, f"T_q = {queries}, T_k = {keys}, D = {width}", finished(3, tensors))


@pytest.mark.exercise("flash_attention.flash_backward", weight=3)
def test_gradients_with_the_causal_mask(submission, expect):
    """Causal, aligned bottom-right: P is 0 where the mask is, in both kernels."""
    for queries, keys in ((150, 150), (70, 140)):
        given = finished(4, inputs.peaked(820 + queries, queries, keys, 64, query_scale=2.0), causal=True)
        check(submission, expect, f"{queries} queries, {keys} keys", given, causal=True)


@pytest.mark.exercise("flash_attention.flash_backward", weight=2)
def test_a_query_that_saw_no_key_has_no_gradient(submission, expect):
    """150 causal queries, 70 or 20 keys: dQ of the first 80 or 130 is 0, and nothing becomes NaN."""
    for keys in (70, 20):
        given = finished(5, inputs.peaked(830, 150, keys, 64, query_scale=2.0), causal=True)
        check(submission, expect, f"150 queries, {keys} keys", given, causal=True)


@pytest.mark.exercise("flash_attention.flash_backward", weight=2)
def test_gradients_of_shared_heads_are_summed(submission, expect):
    """4 query heads on 2: dK and dV get what all heads of their group give; views of any strides."""
    tensors = inputs.peaked(840, 50, 70, 64, leading=(2, 4), kv_leading=(2, 2), query_scale=2.0)
    check(submission, expect, "4 heads on 2", finished(6, tensors))
    between = [each.transpose(1, 2).contiguous().transpose(1, 2) for each in tensors]
    q, k, v, out, lse, grad_out = finished(7, between, causal=True)
    grad_out = grad_out.mT.contiguous().mT
    check(submission, expect, "heads between the tokens", (q, k, v, out, lse, grad_out), causal=True)


@pytest.mark.exercise("flash_attention.flash_backward", weight=2)
def test_half_precision_gradients_are_summed_in_fp32(submission, expect):
    """fp16 and bf16: P and dS are rounded for their products only, sums are fp32."""
    import torch

    for dtype in ("float16", "bfloat16"):
        tensors = inputs.peaked(850, 64, 150, 64, dtype=dtype, query_scale=1.0)
        check(submission, expect, dtype, finished(8, tensors))
    # The second half of the queries takes back what the first half adds: a sum that is rounded on the way shows.
    q, k, v = inputs.peaked(851, 128, 16, 64, dtype="float16", query_scale=0.5)
    *rest, grad_out = finished(11, (torch.cat([q, q]), k, v))
    away_and_back = torch.tensor([100.0, -100.0]).repeat_interleave(128)[:, None]
    given = (*rest, (grad_out + away_and_back).half())
    check(submission, expect, "float16, sums that cancel", given)


@pytest.mark.exercise("flash_attention.flash_backward", weight=2)
def test_kernels_do_the_backward_pass(submission, expect):
    """The dots are in kernels: five products at least, no temporary of T × T, no autograd, no matmul of PyTorch."""
    given = finished(9, inputs.peaked(860, 256, 256, 64, dtype="bfloat16"))
    seen = submission.flash_attention.flash_backward.metered(*given)
    compare(expect, "T = 256", seen.value, given)
    by_kernels(expect, "T = 256", seen.evidence, given)
    launches = [launch for launch in seen.evidence.launches if launch.config_index == 0]
    flops = sum(sum(launch.dot_flops.values()) for launch in launches)
    expect.measured("FLOPs of the dots", flops)
    expect.that(
        flops > 0, "no product is a tl.dot: the tensor cores are idle", symptom="backward_beside_the_kernels"
    )
    temporary = seen.evidence.torch.peak_temporary_bytes
    expect.measured("peak of temporaries", temporary, "B")
    expect.that(
        temporary < 256 * 256 * 2,
        f"temporaries of {temporary:,} B are alive at once: as much as the T × T scores",
        symptom="scores_in_memory",
    )


HEAVY_OPS = {
    "addbmm", "addmm", "baddbmm", "bmm", "einsum", "linear", "matmul", "mm", "mv", "_softmax",
    "_softmax_backward_data", "_safe_softmax", "_scaled_dot_product_attention_math", "numpy",
    "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward",
}  # fmt: skip
"""Operations of PyTorch that only a backward pass outside of the kernels needs; `Tensor.numpy` is one."""


@pytest.mark.exercise("flash_attention.flash_backward", weight=3)
def test_the_function_joins_both_passes(submission, expect):
    """FlashAttention.apply(q, k, v, is_causal): out forward, the gradients of q, k and v backward."""
    from kernels_ref.naive import attention, low_precision_attention

    for causal in (False, True):
        tensors = inputs.peaked(870, 80, 80, 64, leading=(2,), query_scale=2.0)
        given = finished(10, tensors, causal=causal)
        case = f"causal = {causal}"
        answer = submission.flash_attention.FlashAttention.gradients(
            *tensors, causal, grad_outputs=given[-1], wrt=(0, 1, 2)
        )
        pair = isinstance(answer, list | tuple) and len(answer) == 2
        expect.that(pair, f"{case}: no output with its gradients came back")
        wide = [each.double() for each in tensors]
        right, _ = attention(*wide, causal=causal)
        low, _ = low_precision_attention(*tensors, causal=causal, tf32=True)
        wrong = {"is_causal_ignored": lambda wide=wide, causal=causal: attention(*wide, causal=not causal)[0]}
        expect.close(answer[0], right, low, case=case, name="out", suspects=wrong)
        detached = isinstance(answer[1], list | tuple) and all(each is None for each in answer[1])
        expect.that(
            not detached,
            f"{case}: out does not depend on q, k and v for autograd: call forward by `apply` of a Function",
            symptom="function_detached",
        )
        compare(expect, case, answer[1], given, causal)
