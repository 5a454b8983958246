"""Hidden checks of sharded.py: other sizes, ranks and hyperparameters.

The comparison, its tolerance and the slack are those of the visible checks.
"""

import pytest

from grader.checks import sharded_training
from kernels_ref.shards.training import batch, matrices


def gradients(rng, steps, values):
    """For each step one gradient of each parameter."""
    import torch

    generator = torch.Generator().manual_seed(rng.getrandbits(32))
    return [[torch.randn(each.shape, generator=generator) for each in values] for _ in range(steps)]


def hyper(rng):
    """Of AdamW: far from the defaults."""
    return {
        "lr": rng.uniform(0.02, 0.1),
        "betas": (rng.uniform(0.7, 0.9), rng.uniform(0.9, 0.98)),
        "eps": rng.uniform(1e-3, 1e-2),
        "weight_decay": rng.uniform(0.1, 0.5),
    }


# ---- ShardedOptimizer


@pytest.mark.exercise("sharding.sharded_optimizer", weight=3)
def test_any_adamw(submission, expect, rng):
    """Three or four parameters, 2 to 4 ranks, three steps, any hyperparameters."""
    shapes = [(rng.randint(30, 50), rng.randint(30, 50)) for _ in range(rng.randint(2, 3))]
    values = matrices(rng.getrandbits(32), (7, 1), *shapes)
    by_step = gradients(rng, 3, values)
    ranks = rng.randint(2, 4)
    sharded_training.optimizer_steps(
        submission, expect, "any AdamW", ranks, values, by_step, hyper=hyper(rng)
    )


@pytest.mark.exercise("sharding.sharded_optimizer", weight=3)
def test_any_remainder_and_order(submission, expect, rng):
    """Elements that the ranks do not divide, a large parameter among small ones, one that comes twice."""
    ranks = rng.randint(3, 4)
    rows = ranks * rng.randint(9, 14)
    values = matrices(
        rng.getrandbits(32), (rows, 2 * rows), (ranks, 3 * ranks), (1, rng.randint(1, ranks - 1))
    )
    by_step = gradients(rng, 2, values)
    order = [0, 1, 2, rng.choice((0, 0, 1))]
    how = {"order": order, "hyper": hyper(rng)}
    sharded_training.optimizer_steps(submission, expect, "a remainder", ranks, values, by_step, **how)


# ---- FullySharded


def blocks_of(rng, ranks, shapes_of_blocks):
    """For each rank blocks of other values."""
    return [
        [(matrices(rng.getrandbits(32), *shapes), list(range(len(shapes)))) for shapes in shapes_of_blocks]
        for _ in range(ranks)
    ]


def steps_of(rng, ranks, steps, examples, width_in, width_out):
    """For each rank a batch of each step."""
    return [
        [batch(rng.getrandbits(32), examples, width_in, width_out) for _ in range(steps)]
        for _ in range(ranks)
    ]


@pytest.mark.exercise("sharding.fsdp", weight=5)
def test_any_blocks(submission, expect, rng):
    """Blocks of one to three matrices that the ranks do not divide, 2 to 4 ranks, two steps."""
    ranks = rng.randint(2, 4)
    a, b, c, d = (ranks * rng.randint(1, 3) + 1 for _ in range(4))  # products leave 1 over
    shapes = [[(a, b)], [(b, c), (c, b)], [(b, c), (c, c), (c, d)]]
    blocks = blocks_of(rng, ranks, shapes)
    steps = steps_of(rng, ranks, 2, rng.randint(1, 4), a, d)
    sharded_training.sharded_blocks(submission, expect, "any blocks", blocks, steps, hyper=hyper(rng))


@pytest.mark.exercise("sharding.fsdp", weight=4)
def test_any_row_of_large_blocks(submission, expect, rng):
    """Eight to ten blocks much larger than the batch: only one of them is whole at a time."""
    ranks = rng.randint(3, 4)
    width, inner = rng.randint(40, 50), rng.randint(80, 100)
    blocks = blocks_of(rng, ranks, [[(width, inner), (inner, width)]] * rng.randint(8, 10))
    steps = steps_of(rng, ranks, 1, 2, width, width)
    sharded_training.sharded_blocks(submission, expect, "large blocks", blocks, steps, memory=True)
