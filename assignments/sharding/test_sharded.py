"""Visible checks of sharded.py: section 9.

What is right is AdamW in one process, in fp64; how far fp32 may be off is what it is off in fp32. Bytes
that live and collectives are recorded on the ranks, beside the code that is checked, and are looked at only where
the parameters of the same call are right.
"""

import pytest

from grader.checks import sharded_training
from kernels_ref.shards.training import batch, matrices


def gradients(seed, steps, values):
    """For each step one gradient of each parameter."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    return [[torch.randn(each.shape, generator=generator) for each in values] for _ in range(steps)]


# ---- ShardedOptimizer


@pytest.mark.exercise("sharding.sharded_optimizer", weight=2)
def test_five_steps_are_those_of_adamw(submission, expect):
    """Two ranks and three parameters, five steps: torch.optim.AdamW's, on both ranks."""
    values = matrices(1, (40, 30), (30, 1), (25, 50))
    by_step = gradients(1, 5, values)
    sharded_training.optimizer_steps(submission, expect, "3 parameters", 2, values, by_step)


@pytest.mark.exercise("sharding.sharded_optimizer", weight=2)
def test_sizes_that_do_not_divide(submission, expect):
    """2047 elements on 1, 3 and 4 ranks: the last elements have an owner as well."""
    values = matrices(2, (23, 89))
    for ranks in (3, 4, 1):
        by_step = gradients(ranks, 2, values)
        sharded_training.optimizer_steps(submission, expect, f"{ranks} ranks", ranks, values, by_step)


@pytest.mark.exercise("sharding.sharded_optimizer", weight=1)
def test_a_tied_weight_has_one_state(submission, expect):
    """A parameter that comes twice has one update, and one state between two ranks."""
    values = matrices(3, (24, 30), (59, 29))
    by_step = gradients(3, 3, values)
    order = [0, 1, 0]
    sharded_training.optimizer_steps(submission, expect, "tied", 2, values, by_step, order=order)


@pytest.mark.exercise("sharding.sharded_optimizer", weight=1)
def test_fewer_elements_than_ranks_and_no_gradient(submission, expect):
    """Two elements on four ranks; and a parameter without a gradient, which decays all the same."""
    sharded_training.optimizer_steps(
        submission, expect, "2 elements", 4, values := matrices(4, (1, 2)), gradients(4, 3, values)
    )
    values = matrices(5, (5, 5), (3, 4), (2, 2))
    by_step = [[first, None, last] for first, _, last in gradients(5, 2, values)]
    sharded_training.optimizer_steps(submission, expect, "no gradient", 2, values, by_step)


# ---- FullySharded


def blocks_of(seed, ranks, *shapes_of_blocks):
    """For each rank blocks of other values: each layer has a matrix of its own."""
    return [
        [
            (matrices(seed + 100 * rank + index, *shapes), list(range(len(shapes))))
            for index, shapes in enumerate(shapes_of_blocks)
        ]
        for rank in range(ranks)
    ]


def steps_of(seed, ranks, steps, examples, width_in, width_out):
    """For each rank a batch of each step."""
    return [
        [batch(seed + 100 * rank + step, examples, width_in, width_out) for step in range(steps)]
        for rank in range(ranks)
    ]


@pytest.mark.exercise("sharding.fsdp", weight=3)
def test_three_steps_are_those_of_the_whole_model(submission, expect):
    """Two ranks, three blocks, three steps of AdamW; in every step and block 2 all_gathers and 1 reduce_scatter."""
    blocks = blocks_of(1, 2, ((6, 10), (10, 6)), ((6, 6),), ((6, 8), (8, 3)))
    sharded_training.sharded_blocks(submission, expect, "3 blocks", blocks, steps_of(1, 2, 3, 4, 6, 3))


@pytest.mark.exercise("sharding.fsdp", weight=2)
def test_blocks_that_do_not_divide_and_a_batch_of_one(submission, expect):
    """45 and 20 elements on 4, 3 and 1 ranks, one example on each."""
    for ranks in (4, 3, 1):
        blocks = blocks_of(10 * ranks, ranks, ((5, 9),), ((9, 2), (2, 1)))
        steps = steps_of(10 * ranks, ranks, 2, 1, 5, 1)
        sharded_training.sharded_blocks(submission, expect, f"{ranks} ranks", blocks, steps)


@pytest.mark.exercise("sharding.fsdp", weight=1)
def test_a_matrix_used_twice(submission, expect):
    """In a block one matrix is used by two layers."""
    blocks = blocks_of(50, 2, ((4, 4), (4, 4)), ((4, 4),))
    tied = [[(matrices_, [0, 1, 0]) for matrices_, _ in own[:1]] + own[1:] for own in blocks]
    sharded_training.sharded_blocks(submission, expect, "tied", tied, steps_of(50, 2, 2, 3, 4, 4))


@pytest.mark.exercise("sharding.fsdp", weight=3)
def test_no_more_than_one_block_is_whole(submission, expect):
    """Three ranks, eight blocks of 9216 elements: a rank keeps 16 bytes for each of its elements, and no block."""
    blocks = blocks_of(70, 3, *[((48, 96), (96, 48))] * 8)
    steps = steps_of(70, 3, 2, 2, 48, 48)
    sharded_training.sharded_blocks(submission, expect, "8 blocks", blocks, steps, memory=True)
