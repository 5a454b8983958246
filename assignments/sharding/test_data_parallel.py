"""Visible checks of data_parallel.py: section 8.

The network is a row of layers, x = tanh(x @ weight), and the loss of an example ½ Σ (output − target)². What is right
is computed in one process with the whole batch, in fp64; how far fp32 may be off is what one process in fp32 is off.
Which collective started when is recorded on the ranks, beside the code that is checked, and is looked at only where
the gradients of the same call are right.
"""

import pytest

from grader.checks import averaged
from kernels_ref.shards.training import batch, matrices

FOUR = (0, 1, 2, 3)


def micro_batches(seed, sizes, width_in, width_out):
    """One of each size."""
    return [batch(seed + index, size, width_in, width_out) for index, size in enumerate(sizes)]


# ---- naive_ddp


@pytest.mark.exercise("sharding.naive_ddp", weight=1)
def test_rank_0_gives_all_its_model(submission, expect):
    """broadcast_parameters: all ranks hold rank 0's parameters and buffers, in the tensors of before."""
    import torch

    given = [(matrices(rank, (3, 4), (5, 2), (7, 1)), [torch.arange(4) + 10 * rank]) for rank in range(3)]
    seen = submission.sharding.broadcast_parameters.on_ranks(given, scenario="broadcast")
    averaged.broadcast(expect, seen, given)


@pytest.mark.exercise("sharding.naive_ddp", weight=1)
def test_three_examples_by_hand(submission, expect):
    """With weight 0 the output is tanh(0) = 0, and an example adds −target · x: (2 + 2 + 12) / 3 over all three."""
    import torch

    pairs = [[(1.0, -2.0), (2.0, -1.0)], [(3.0, -4.0)]]  # of rank 0 and of rank 1
    given = [
        ([tuple(torch.tensor(column)[:, None] for column in zip(*own, strict=True))], [0]) for own in pairs
    ]
    seen = submission.sharding.naive_ddp.on_ranks(given, scenario="naive_ddp", weights=[torch.zeros(1, 1)])
    wrong = {14.0: "sum_of_means", 7.0: "mean_of_means", 16.0: "sum_for_mean", 8.0: "divided_by_ranks_only"}
    for rank, value in enumerate(seen.values):
        (got,) = value["gradients"]
        expect.that(got is not None and got.numel() == 1, f"rank {rank}: the weight has no gradient")
        expect.that(
            abs(got.item() - 16 / 3) < 1e-5,
            f"rank {rank}: the gradient is {got.item():.4g}, and by hand (2 + 2 + 12) / 3 = 5.333",
            symptom=wrong.get(round(got.item(), 4), ""),
        )


@pytest.mark.exercise("sharding.naive_ddp", weight=2)
def test_one_all_reduce_after_the_last_micro_batch(submission, expect):
    """Two ranks, three micro-batches on each: one all_reduce, of all gradients of four weights."""
    weights = matrices(1, (4, 6), (6, 5), (5, 3), (3, 2))
    batches = [micro_batches(10, (2, 2, 2), 4, 2), micro_batches(20, (2, 2, 2), 4, 2)]
    averaged.naive_step(submission, expect, "3 micro-batches on each rank", weights, batches)


@pytest.mark.exercise("sharding.naive_ddp", weight=1)
def test_uneven_examples_and_ranks_without_any(submission, expect):
    """A batch of one for three ranks; 3, 8 and 4 examples on three ranks; one rank alone."""
    weights = matrices(2, (3, 5), (5, 2))
    for case, sizes in (
        ("a batch of one", ((), (1,), ())),
        ("uneven ranks", ((3,), (1, 2, 1, 3, 1), (2, 2))),
        ("one rank", ((2, 1, 2),)),
    ):
        batches = [micro_batches(100 + 10 * rank, own, 3, 2) for rank, own in enumerate(sizes)]
        averaged.naive_step(submission, expect, case, weights, batches)


@pytest.mark.exercise("sharding.naive_ddp", weight=1)
def test_weights_that_only_some_ranks_use(submission, expect):
    """Four ranks: one weight is used on one of them, one on none, one is frozen."""
    weights = matrices(3, (4, 4), (4, 4), (4, 4), (4, 4))
    batches = [micro_batches(40 + rank, (2,), 4, 4) for rank in range(4)]
    runs = [(0, 1), (0, 1), (0, 1, 2), (0, 1)]
    averaged.naive_step(submission, expect, "unused weights", weights, batches, runs, frozen=(0,))


# ---- DistributedDataParallel


@pytest.mark.exercise("sharding.distributed_data_parallel", weight=3)
def test_buckets_start_while_backward_runs(submission, expect):
    """Two ranks, four layers, three buckets: the first all_reduce starts when backward has done two layers."""
    weights = [matrices(rank, (5, 8), (8, 8), (8, 8), (8, 3)) for rank in range(2)]
    steps = [
        [(FOUR, micro_batches(60 + 10 * rank + step, (3,), 5, 3)) for step in range(2)] for rank in range(2)
    ]
    # From the last layer on 96 + 256 bytes are one bucket, and 256 and 160 are two: together they have 416.
    averaged.overlapped_steps(submission, expect, "4 layers", weights, steps, bucket_bytes=400)


@pytest.mark.exercise("sharding.distributed_data_parallel", weight=2)
def test_a_bucket_that_is_not_full_and_a_weight_larger_than_one(submission, expect):
    """Three ranks: one bucket for all, one for each weight, one weight larger than a bucket; one rank alone."""
    weights = [matrices(10 + rank, (6, 4), (4, 12), (12, 2)) for rank in range(3)]
    steps = [[((0, 1, 2), micro_batches(80 + rank, (1,), 6, 2))] for rank in range(3)]
    for bucket_bytes in (1 << 20, 1, 100):
        case = f"buckets of {bucket_bytes} B"
        averaged.overlapped_steps(submission, expect, case, weights, steps, bucket_bytes=bucket_bytes)
    averaged.overlapped_steps(submission, expect, "one rank", weights[:1], steps[:1], bucket_bytes=200)


@pytest.mark.exercise("sharding.distributed_data_parallel", weight=2)
def test_weights_that_a_step_does_not_use(submission, expect):
    """Two ranks skip different layers, other ones in the next step, and one layer is never used."""
    weights = [matrices(20 + rank, *[(4, 4)] * 5) for rank in range(2)]
    runs = [[(0, 1, 3), (0, 2, 3)], [(0, 2, 3), (0, 1, 2, 3)]]
    steps = [
        [(layers, micro_batches(90 + 10 * rank + step, (2,), 4, 4)) for step, layers in enumerate(own)]
        for rank, own in enumerate(runs)
    ]
    for bucket_bytes in (64, 128):
        case = f"unused weights, buckets of {bucket_bytes} B"
        averaged.overlapped_steps(submission, expect, case, weights, steps, bucket_bytes=bucket_bytes)


@pytest.mark.exercise("sharding.distributed_data_parallel", weight=1)
def test_a_tied_weight_travels_once(submission, expect):
    """The second and the last layer share one weight, and the first layer is frozen."""
    weights = [matrices(30 + rank, (4, 4), (4, 4), (4, 4)) for rank in range(2)]
    steps = [[(FOUR, micro_batches(120 + rank, (2,), 4, 4))] for rank in range(2)]
    how = {"layers": (0, 1, 2, 1), "frozen": (0,), "bucket_bytes": 64}
    averaged.overlapped_steps(submission, expect, "tied weights", weights, steps, **how)


@pytest.mark.exercise("sharding.distributed_data_parallel", weight=1)
def test_no_sync_adds_up_before_it_communicates(submission, expect):
    """Three micro-batches a step, two of them in no_sync: one all_reduce for each bucket and step."""
    weights = [matrices(40 + rank, (3, 5), (5, 5), (5, 2)) for rank in range(2)]
    steps = [
        [((0, 1, 2), micro_batches(140 + 10 * rank + 4 * step, (2, 2, 2), 3, 2)) for step in range(2)]
        for rank in range(2)
    ]
    averaged.overlapped_steps(submission, expect, "3 micro-batches", weights, steps, bucket_bytes=100)
