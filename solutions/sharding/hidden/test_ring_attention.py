"""Hidden checks of ring_attention.py: any sequence on any number of ranks, against the whole attention in fp64."""

import pytest

from grader.checks import ring
from kernels_ref import inputs


@pytest.mark.exercise("sharding.ring_attention", weight=1)
def test_any_zigzag(submission, expect, oracle, rng):
    """Any number of tokens on any number of ranks."""
    import torch

    for _ in range(6):
        ranks = rng.randint(1, 9)
        given = rng.randint(2 * ranks, 60), ranks, rng.randrange(ranks)
        got = submission.sharding.zigzag_positions(*given)
        whole = isinstance(got, torch.Tensor) and got.dtype == torch.int64 and got.ndim == 1
        expect.that(whole, "one dimension of int64 is needed")
        expect.equal(got.tolist(), oracle.sharding.zigzag_positions(*given).tolist(), case="random tokens")


def run(submission, rng, ranks, causal, scenario="call"):
    """Ring attention of random heads and tokens."""
    tokens, leading = rng.randint(2 * ranks, 40), rng.choice(((), (2,), (1, 3)))
    tensors = inputs.peaked(
        rng.getrandbits(32), tokens, tokens, rng.choice((4, 6, 10)), leading=leading, query_scale=2.0
    )
    given = ring.shared(tensors, ranks, causal)
    seen = submission.sharding.ring_attention.on_ranks(given, scenario=scenario, causal=causal)
    return seen, tensors


@pytest.mark.exercise("sharding.ring_attention", weight=4)
def test_any_sequence_on_a_ring(submission, expect, rng):
    """Without a mask: any number of tokens on 1 to 4 ranks."""
    for ranks in (rng.choice((1, 2)), 3, 4):
        seen, tensors = run(submission, rng, ranks, False)
        ring.values(expect, list(seen.values), tensors, ranks, False, "random tokens")


@pytest.mark.exercise("sharding.ring_attention", weight=4)
def test_any_causal_sequence_on_a_ring(submission, expect, rng):
    """Causal: any number of tokens on 1 to 4 ranks."""
    for ranks in (rng.choice((1, 2)), 3, 4):
        seen, tensors = run(submission, rng, ranks, True)
        ring.values(expect, list(seen.values), tensors, ranks, True, "random tokens, causal")


@pytest.mark.exercise("sharding.ring_attention", weight=2)
def test_any_ring_carries_keys_and_values_and_nothing_else(submission, expect, rng):
    """Whatever the sizes: n − 1 hops of K and V."""
    for causal in (False, True):
        ranks = rng.randint(2, 4)
        seen, tensors = run(submission, rng, ranks, causal)
        ring.values(expect, list(seen.values), tensors, ranks, causal, "random tokens")
        ring.traffic(expect, seen, tensors, ranks, "random tokens")


@pytest.mark.exercise("sharding.ring_attention", weight=2)
def test_any_ring_spares_work_and_memory(submission, expect, rng):
    """Whatever the sizes: no chunk is multiplied that is not seen, and no scores of the whole sequence are alive."""
    tokens = 8 * rng.randint(5, 12)
    tensors = inputs.peaked(rng.getrandbits(32), tokens, tokens, 6, query_scale=2.0)
    given = ring.shared(tensors, 4, True)
    seen = submission.sharding.ring_attention.on_ranks(given, scenario="counted", causal=True)
    told = ring.counted(expect, seen)
    ring.values(expect, [each["value"] for each in told], tensors, 4, True, "random tokens, causal")
    ring.traffic(expect, seen, tensors, 4, "random tokens, causal")
    ring.work(expect, told, tensors, 4, "random tokens, causal")
    tokens = rng.randint(400, 600)
    tensors = inputs.peaked(rng.getrandbits(32), tokens, tokens, 8, query_scale=2.0)
    seen = submission.sharding.ring_attention.on_ranks(ring.shared(tensors, 4, False), causal=False)
    ring.values(expect, list(seen.values), tensors, 4, False, "many random tokens")
    ring.traffic(expect, seen, tensors, 4, "many random tokens")
    ring.memory(expect, seen, tensors, 4, "many random tokens")
