"""Visible checks of ring_attention.py: section 7.

The right values are those of attention over the whole sequence, in fp64. How far from them an answer may be follows
from what one process is off that computes them in fp32.
"""

import pytest

from grader.checks import ring
from kernels_ref import inputs


def check_values(submission, expect, label, ranks, tokens, *, causal, dtype="float32", seed=1):
    """Ring attention of 2 × 3 heads, 8 wide, on these ranks."""
    tensors = inputs.peaked(seed, tokens, tokens, 8, leading=(2, 3), dtype=dtype, query_scale=2.0)
    given = ring.shared(tensors, ranks, causal)
    seen = submission.sharding.ring_attention.on_ranks(given, causal=causal)
    ring.values(expect, list(seen.values), tensors, ranks, causal, label)
    return seen, tensors


@pytest.mark.exercise("sharding.ring_attention")
def test_zigzag_gives_every_rank_a_chunk_from_the_front_and_one_from_the_back(submission, expect):
    """8 tokens on 2 ranks: 0, 1, 6, 7 and 2, 3, 4, 5. What does not divide is longer in front."""
    import torch

    wanted = {
        (8, 2, 0): [0, 1, 6, 7],
        (8, 2, 1): [2, 3, 4, 5],
        # 13 tokens in 6 chunks: 3, 2, 2, 2, 2, 2.
        (13, 3, 0): [0, 1, 2, 11, 12],
        (13, 3, 2): [5, 6, 7, 8],
        (5, 1, 0): [0, 1, 2, 3, 4],
    }
    got = {case: submission.sharding.zigzag_positions(*case) for case in wanted}
    for (tokens, ranks, rank), right in wanted.items():
        value, case = got[tokens, ranks, rank], f"{tokens} tokens, rank {rank} of {ranks}"
        whole = isinstance(value, torch.Tensor) and value.dtype == torch.int64 and value.ndim == 1
        expect.that(whole, f"{case}: one dimension of int64 is needed")
        expect.equal(value.tolist(), right, case=case)


@pytest.mark.exercise("sharding.ring_attention", weight=2)
def test_attention_on_a_ring_is_the_whole_attention(submission, expect):
    """Without a mask: 12 tokens on 1, 2 and 4 ranks, 11 tokens on 3."""
    for ranks, tokens in ((1, 12), (2, 12), (3, 11), (4, 12)):
        label = f"{tokens} tokens on {ranks} rank{'s' * (ranks > 1)}"
        check_values(submission, expect, label, ranks, tokens, causal=False, seed=10 + ranks)


@pytest.mark.exercise("sharding.ring_attention", weight=2)
def test_causal_attention_on_a_ring_looks_at_positions_in_the_whole_sequence(submission, expect):
    """Causal, zig-zag: 16 tokens on 1, 2 and 4 ranks, 13 tokens on 3."""
    for ranks, tokens in ((1, 16), (2, 16), (3, 13), (4, 16)):
        label = f"causal, {tokens} tokens on {ranks} rank{'s' * (ranks > 1)}"
        check_values(submission, expect, label, ranks, tokens, causal=True, seed=20 + ranks)


@pytest.mark.exercise("sharding.ring_attention")
def test_large_scores_do_not_overflow_and_bf16_is_merged_in_fp32(submission, expect):
    """Logits of ±10,000 on 2 ranks; and bf16 tokens, whose partial results must not be rounded to bf16."""
    huge = inputs.huge(31, 12, 12, 8)
    seen = submission.sharding.ring_attention.on_ranks(ring.shared(huge, 2, False), causal=False)
    ring.values(expect, list(seen.values), huge, 2, False, "logits of ±10,000")
    check_values(submission, expect, "bf16", 3, 12, causal=True, dtype="bfloat16", seed=32)


@pytest.mark.exercise("sharding.ring_attention", weight=2)
def test_keys_and_values_make_n_minus_1_hops_and_nothing_else_is_sent(submission, expect):
    """Communication: (n − 1) · 2 · the bytes of K, by send and receive between neighbours."""
    # 2·3·13·8 fp32 numbers are 2,496 bytes of K; on 3 ranks 2 hops of K and V are 9,984.
    for ranks, tokens, causal in ((3, 13, False), (4, 16, True)):
        label = f"{tokens} tokens on {ranks} ranks"
        seen, tensors = check_values(submission, expect, label, ranks, tokens, causal=causal, seed=40 + ranks)
        ring.traffic(expect, seen, tensors, ranks, label)


@pytest.mark.exercise("sharding.ring_attention")
def test_scores_of_the_whole_sequence_are_never_alive(submission, expect):
    """512 tokens on 4 ranks: a block of scores is 128 × 128; 128 × 512 never exists."""
    tensors = inputs.peaked(51, 512, 512, 8, query_scale=2.0)
    seen = submission.sharding.ring_attention.on_ranks(ring.shared(tensors, 4, False), causal=False)
    ring.values(expect, list(seen.values), tensors, 4, False, "512 tokens on 4 ranks")
    ring.traffic(expect, seen, tensors, 4, "512 tokens on 4 ranks")
    ring.memory(expect, seen, tensors, 4, "512 tokens on 4 ranks")


@pytest.mark.exercise("sharding.ring_attention")
def test_zigzag_makes_every_rank_work_as_much(submission, expect):
    """Causal, 64 tokens on 4 ranks: each multiplies 9 of its 16 pairs of chunks, the others are never seen."""
    tensors = inputs.peaked(61, 64, 64, 8, query_scale=2.0)
    given = ring.shared(tensors, 4, True)
    seen = submission.sharding.ring_attention.on_ranks(given, scenario="counted", causal=True)
    told = ring.counted(expect, seen)
    ring.values(expect, [each["value"] for each in told], tensors, 4, True, "64 tokens on 4 ranks")
    ring.traffic(expect, seen, tensors, 4, "64 tokens on 4 ranks")
    ring.work(expect, told, tensors, 4, "64 tokens on 4 ranks")
