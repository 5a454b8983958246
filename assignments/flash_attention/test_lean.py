"""Visible checks of forward.py and backward.py: section 9, lean and fast.

A meter counts what the kernels load and store, and a compiler for the H100 says what they take of it. Each check looks
at the values of the same call first: a kernel that is wrong is not lean. These figures are measured beside your code.
"""

import math

import pytest

from kernels_ref import inputs

ELEMENT_BYTES = 2  # of bf16
ROWS_OF_A_TILE = 64
COPIES = ("cat", "clone", "copy", "index", "repeat", "stack")  # parts of names of PyTorch's operations


def metered(submission, expect, case, tensors, causal=False):
    """The evidence of a call whose values are right."""
    from kernels_ref.naive import attention, low_precision_attention

    seen = submission.flash_attention.flash_forward.metered(*tensors, causal=causal)
    out, lse = attention(*(each.double() for each in tensors), causal=causal)
    low_out, low_lse = low_precision_attention(*tensors, causal=causal)
    pair = isinstance(seen.value, list | tuple) and len(seen.value) == 2
    expect.that(pair, f"{case}: flash_forward must return a pair, out and lse")
    # Which mistake a wrong value shows, the exercises of section 7 tell; here it explains itself.
    for got, right, low, name, rows in zip(
        seen.value, (out, lse), (low_out, low_lse), ("out", "lse"), (-2, -1), strict=True
    ):
        how = {
            "rows": rows,
            "exponent": float(lse.abs().max()),
            "suspects": {"wrong_value": lambda got=got: got},
        }
        expect.close(got, right, low, case=case, name=name, **how)
    launches = [launch for launch in seen.evidence.launches if launch.config_index == 0]
    expect.that(bool(launches), f"{case}: no kernel was launched", symptom="library_attention")
    return seen.evidence, launches


def issued_bytes(launches):
    """All that the kernels asked memory for."""
    return sum(
        traffic.read_bytes + traffic.written_bytes for launch in launches for traffic in launch.tensors
    )


def dot_flops(launches):
    """Of all dots."""
    return sum(sum(launch.dot_flops.values()) for launch in launches)


@pytest.mark.exercise("flash_attention.efficiency", weight=2)
def test_no_temporary_is_as_large_as_the_scores(submission, expect):
    """T = 256, D = 64: nothing of T × T elements is made, neither by PyTorch nor for the kernels."""
    tensors = inputs.peaked(701, 256, 256, 64, dtype="bfloat16")
    evidence, _ = metered(submission, expect, "T = 256", tensors)
    expect.measured("peak of temporaries", evidence.torch.peak_temporary_bytes, "B")
    expect.that(
        evidence.torch.peak_temporary_bytes < 256 * 256 * ELEMENT_BYTES,
        f"temporaries of {evidence.torch.peak_temporary_bytes:,} B are alive at once; T × T scores would be "
        f"{256 * 256 * ELEMENT_BYTES:,} B, and flash needs none",
        symptom="scores_in_memory"
        if math.prod(evidence.torch.largest_temporary_shape) >= 256 * 256
        else "other_temporaries",
    )


@pytest.mark.exercise("flash_attention.efficiency", weight=2)
def test_few_bytes_are_moved(submission, expect):
    """T = 256, D = 64: no more than tiles of 64 queries move, 2TDe(1 + ⌈T/64⌉) bytes, and a tenth."""
    tensors = inputs.peaked(702, 256, 256, 64, dtype="bfloat16")
    _, launches = metered(submission, expect, "T = 256", tensors)
    moved = issued_bytes(launches)
    allowed = 2 * 256 * 64 * ELEMENT_BYTES * (1 + -(-256 // ROWS_OF_A_TILE))
    expect.measured("bytes moved", moved, "B")
    read = {traffic.tensor: traffic.read_bytes for launch in launches for traffic in launch.tensors}
    most = max(read, key=read.__getitem__)
    excess = moved - allowed
    keys = read.get("k", 0) + read.get("v", 0) - 2 * tensors[1].nbytes * -(-256 // ROWS_OF_A_TILE)
    symptoms = {
        "queries_loaded_again": read.get("q", 0) - tensors[0].nbytes >= 0.5 * excess,
        "keys_loaded_too_often": keys >= 0.5 * excess,
        "too_many_bytes": True,
    }
    expect.that(
        moved <= 1.1 * allowed,
        f"{moved:,} B are moved, {moved / allowed:.2g} times what tiles of 64 queries move; most of it is read "
        f"from {most}",
        symptom=next(name for name, holds in symptoms.items() if holds),
    )


@pytest.mark.exercise("flash_attention.efficiency")
def test_each_byte_is_touched_once_at_least_and_no_other(submission, expect):
    """Shared heads, T = 128: what is read and written at all is q, k, v, out and lse, and nothing twice as a copy."""
    tensors = inputs.peaked(703, 128, 128, 64, leading=(4,), kv_leading=(1,), dtype="bfloat16")
    evidence, launches = metered(submission, expect, "4 heads on 1", tensors)
    unique = sum(
        traffic.unique_read_bytes + traffic.unique_written_bytes
        for launch in launches
        for traffic in launch.tensors
    )
    q, k, v = tensors
    compulsory = 2 * q.nbytes + k.nbytes + v.nbytes + 4 * 4 * 128
    expect.that(
        unique <= 1.05 * compulsory and evidence.torch.peak_temporary_bytes <= 0.25 * compulsory,
        f"{unique:,} different bytes are touched and {evidence.torch.peak_temporary_bytes:,} B of temporaries made; "
        f"q, k, v, out and lse have {compulsory:,}: is K copied for every query head?",
        symptom="keys_copied_for_heads"
        if any(word in name for name in evidence.torch.ops for word in COPIES)
        else "other_temporaries",
    )


@pytest.mark.exercise("flash_attention.efficiency")
def test_the_flops_are_those_of_attention(submission, expect):
    """T = 256, D = 64, no mask: the dots do 4·T²·D FLOPs, exactly what naive attention does."""
    tensors = inputs.peaked(704, 256, 256, 64, dtype="bfloat16")
    _, launches = metered(submission, expect, "T = 256", tensors)
    flops, wanted = dot_flops(launches), 4 * 256 * 256 * 64
    expect.that(
        flops == wanted,
        f"the dots do {flops:,} FLOPs, {flops / wanted:.3g} times 4·T²·D = {wanted:,}",
        symptom="scores_computed_twice" if flops > wanted else "fewer_flops",
    )


@pytest.mark.exercise("flash_attention.efficiency", weight=2)
def test_causal_skips_the_tiles_that_nobody_sees(submission, expect):
    """T = 384, causal: at most 0.67 of the FLOPs of the whole square, as tiles of 128 do; half is the least."""
    tensors = inputs.peaked(705, 384, 384, 64, dtype="bfloat16")
    _, launches = metered(submission, expect, "T = 384, causal", tensors, causal=True)
    share = dot_flops(launches) / (4 * 384 * 384 * 64)
    expect.measured("FLOPs of the whole square", share, "")
    expect.that(
        share <= 0.67,
        f"the dots do {share:.0%} of the whole square's FLOPs: bound the loop by the last key that the tile sees",
        symptom="whole_square" if share == 1 else "too_many_flops",
    )


@pytest.mark.exercise("flash_attention.efficiency", weight=2)
def test_it_fits_an_h100(submission, expect):
    """Compiled for an H100 at D = 64 in fp16 and 128 in bf16: no spills, within shared memory, on tensor cores."""
    for width, dtype in ((64, "float16"), (128, "bfloat16")):
        tensors = inputs.peaked(706, 128, 128, width, dtype=dtype)
        case = f"D = {width}, {dtype}"
        metered(submission, expect, case, tensors)
        launches = submission.flash_attention.flash_forward.compiled(*tensors)
        first = [launch for launch in launches if launch.config_index == 0]
        expect.that(bool(first), f"{case}: no kernel was launched", symptom="library_attention")
        for launch in first:
            expect.that(launch.compiles, f"{case}: {launch.kernel}: {launch.message}", symptom="does_not_fit")
        expect.that(
            any(launch.hgmma + launch.hmma > 0 for launch in first),
            f"{case}: no tensor core is used: give tl.dot 16-bit operands",
            symptom="no_tensor_cores",
        )
        for launch in first:
            expect.that(
                launch.spill_bytes == 0,
                f"{case}: {launch.kernel} spills {launch.spill_bytes} B a thread: smaller tiles, or more warps",
                symptom="spills",
            )


@pytest.mark.exercise("flash_attention.performance", weight=2)
def test_forward_is_timed(submission, expect):
    """Forward, timed on a GPU against the reference kernel."""
    submission.flash_attention.flash_forward(
        *inputs.peaked(710, 16, 16, 64)
    )  # an untouched stub stays a todo
    submission.flash_attention.flash_forward.timed("forward")


@pytest.mark.exercise("flash_attention.performance")
def test_backward_is_timed(submission, expect):
    """Backward, timed on a GPU against the reference kernel."""
    from kernels_ref.naive import low_precision_attention

    q, k, v = inputs.peaked(711, 16, 16, 64)
    out, lse = low_precision_attention(q, k, v)
    submission.flash_attention.flash_backward(q, k, v, out, lse, inputs.gradient(3, out))
    submission.flash_attention.flash_backward.timed("backward")
