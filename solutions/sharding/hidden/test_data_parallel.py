"""Hidden checks of data_parallel.py: other networks, ranks, batches, buckets and unused weights.

The comparison and its tolerance are those of the visible checks.
"""

from itertools import pairwise

import pytest

from grader.checks import averaged
from kernels_ref.shards.training import batch, matrices


def widths(rng, layers):
    """Shapes of a row of layers, all of them different."""
    sizes = rng.sample(range(2, 12), layers + 1)
    return list(pairwise(sizes))


def drawn(rng, sizes, shapes):
    """A micro-batch of each size, for layers of these shapes."""
    return [batch(rng.getrandbits(32), size, shapes[0][0], shapes[-1][1]) for size in sizes]


# ---- naive_ddp


@pytest.mark.exercise("sharding.naive_ddp", weight=1)
def test_any_model_of_rank_0(submission, expect, rng):
    """Parameters and buffers of any shape, frozen ones and integers among them."""
    import torch

    shapes = widths(rng, 4)
    given = [
        (matrices(rng.getrandbits(32), *shapes), [torch.arange(5) + rng.getrandbits(8), torch.rand(3)])
        for _ in range(rng.randint(2, 4))
    ]
    seen = submission.sharding.broadcast_parameters.on_ranks(given, scenario="broadcast")
    averaged.broadcast(expect, seen, given)


@pytest.mark.exercise("sharding.naive_ddp", weight=3)
def test_any_ranks_and_examples(submission, expect, rng):
    """Equal micro-batches on 2 to 4 ranks; then 0 to 4 of them of other sizes."""
    shapes = widths(rng, 5)
    weights = matrices(rng.getrandbits(32), *shapes)
    ranks = rng.randint(2, 4)
    even = [drawn(rng, (3, 3), shapes) for _ in range(ranks)]
    averaged.naive_step(submission, expect, "equal ranks", weights, even)
    counts = [[1, 2], [], *([rng.randint(1, 3) for _ in range(rng.randint(1, 4))] for _ in range(2))]
    rng.shuffle(counts)
    uneven = [drawn(rng, own, shapes) for own in counts]
    averaged.naive_step(submission, expect, "unequal ranks", weights, uneven)


@pytest.mark.exercise("sharding.naive_ddp", weight=2)
def test_any_use_of_weights(submission, expect, rng):
    """Each rank runs some of the layers, in an order of its own."""
    width = rng.randint(3, 6)
    shapes = [(width, width)] * 5
    weights = matrices(rng.getrandbits(32), *shapes)
    own, other = rng.sample((1, 2, 3, 4), 2)
    runs = [(0, own), (0, other), (0, own, other)]
    rng.shuffle(runs)
    batches = [drawn(rng, (rng.randint(1, 3), 2), shapes) for _ in runs]
    averaged.naive_step(submission, expect, "some of the weights", weights, batches, runs)


# ---- DistributedDataParallel


@pytest.mark.exercise("sharding.distributed_data_parallel", weight=4)
def test_any_buckets(submission, expect, rng):
    """Six layers in buckets of one or two weights, on 2 to 4 ranks; two steps."""
    shapes = widths(rng, 6)
    ranks = rng.randint(2, 4)
    weights = [matrices(rng.getrandbits(32), *shapes) for _ in range(ranks)]
    sizes = [4 * rows * columns for rows, columns in shapes]
    layers = tuple(range(6))
    steps = [[(layers, drawn(rng, (2,), shapes)) for _ in range(2)] for _ in range(ranks)]
    pairs = [sum(pair) for pair in pairwise(sizes)]
    bucket_bytes = rng.randint(min(pairs), max(pairs))
    averaged.overlapped_steps(submission, expect, "any buckets", weights, steps, bucket_bytes=bucket_bytes)


@pytest.mark.exercise("sharding.distributed_data_parallel", weight=3)
def test_any_unused_weights(submission, expect, rng):
    """Each rank skips a layer of its own, another one in the next step, and all skip one; one weight is tied."""
    width, ranks = rng.randint(3, 6), rng.randint(2, 3)
    shapes = [(width, width)] * 6
    weights = [matrices(rng.getrandbits(32), *shapes) for _ in range(ranks)]
    order = (0, 1, 2, 3, 4, 5, 1)
    never = rng.choice((2, 3))
    steps = []
    for rank in range(ranks):
        skipped = [5 if rank == 0 else 4, rng.choice((0, 4))]
        steps.append(
            [
                (tuple(k for k in range(7) if k not in (never, skip)), drawn(rng, (2,), shapes))
                for skip in skipped
            ]
        )
    how = {"layers": order, "bucket_bytes": 4 * width * width * rng.choice((1, 2))}
    averaged.overlapped_steps(submission, expect, "unused weights", weights, steps, **how)


@pytest.mark.exercise("sharding.distributed_data_parallel", weight=2)
def test_any_accumulation(submission, expect, rng):
    """Two to four micro-batches a step, all but the last in no_sync."""
    shapes = widths(rng, 3)
    weights = [matrices(rng.getrandbits(32), *shapes) for _ in range(2)]
    count = rng.randint(2, 4)
    steps = [[((0, 1, 2), drawn(rng, (2,) * count, shapes)) for _ in range(2)] for _ in range(2)]
    averaged.overlapped_steps(submission, expect, "accumulated", weights, steps, bucket_bytes=1)
