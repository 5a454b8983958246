"""Hidden checks of tensor_parallel.py: layers of any size on any number of ranks, against the whole layer in fp64."""

import pytest

from grader.checks.ranked import communicates, kept, layer_values
from kernels_ref.shards import blocks, linear, sequence


def on_ranks(layer, case):
    """The layer built, and run forward and backward, on every rank."""
    return layer.on_ranks(case.args, scenario="module", init=case.init, options=case.options)


def seed_of(rng):
    return rng.getrandbits(32)


def batch_of(rng, tokens=0):
    """Leading dimensions of x; a batch of one among them. `tokens` where they are given."""
    return (rng.choice((1, 1, 2, 3)), tokens or rng.randint(1, 6))


@pytest.mark.exercise("sharding.parallel_linear", weight=4)
def test_any_columns(submission, expect, rng):
    """Columns: any size, gathered or not, with a bias or without."""
    gathers = rng.sample((True, False), 2)
    for ranks, gather in ((rng.choice((1, 2)), gathers[0]), (3, gathers[1]), (4, rng.random() < 0.5)):
        case = linear.column(
            seed_of(rng),
            ranks,
            rng.randint(4, 30),
            rng.randint(2, 20),
            batch_of(rng),
            bias=rng.random() < 0.7,
            gather_output=gather,
        )
        layer_values(expect, on_ranks(submission.sharding.ColumnParallelLinear, case), case, "columns")


@pytest.mark.exercise("sharding.parallel_linear", weight=4)
def test_any_rows(submission, expect, rng):
    """Rows: any size, x cut or whole, with a bias or without."""
    cuts = rng.sample((True, False), 2)
    for ranks, is_cut in ((2, cuts[0]), (3, cuts[1]), (4, rng.random() < 0.5)):
        case = linear.row(
            seed_of(rng),
            ranks,
            rng.randint(2, 20),
            rng.randint(4, 30),
            batch_of(rng),
            bias=ranks == 2 or rng.random() < 0.5,
            input_is_parallel=is_cut,
        )
        layer_values(expect, on_ranks(submission.sharding.RowParallelLinear, case), case, "rows")


@pytest.mark.exercise("sharding.parallel_linear", weight=3)
def test_any_layer_communicates_what_it_must(submission, expect, rng):
    """Each layer makes its collectives and no others, whatever its size."""
    for layer, case, label in (
        (
            submission.sharding.ColumnParallelLinear,
            linear.column(
                seed_of(rng),
                rng.randint(2, 4),
                rng.randint(40, 60),
                rng.randint(24, 40),
                batch_of(rng),
                gather_output=rng.random() < 0.5,
            ),
            "columns",
        ),
        (
            submission.sharding.RowParallelLinear,
            linear.row(
                seed_of(rng),
                rng.randint(2, 4),
                rng.randint(24, 40),
                rng.randint(40, 60),
                batch_of(rng),
                input_is_parallel=rng.random() < 0.5,
            ),
            "rows",
        ),
    ):
        seen = on_ranks(layer, case)
        communicates(expect, seen, case, label)
        kept(expect, seen, case, label)
        layer_values(expect, seen, case, label)


@pytest.mark.exercise("sharding.parallel_blocks", weight=3)
def test_any_mlp(submission, expect, rng):
    """MLP: any size, values, gradients and collectives."""
    for ranks in (rng.choice((1, 2)), rng.choice((3, 4))):
        sizes = rng.randint(3, 12), rng.randint(8, 40)
        case = blocks.mlp(seed_of(rng), ranks, *sizes, batch_of(rng), bias=ranks > 2 or rng.random() < 0.5)
        seen = on_ranks(submission.sharding.ParallelMLP, case)
        layer_values(expect, seen, case, "MLP")
        if ranks > 1:
            communicates(expect, seen, case, "MLP")


@pytest.mark.exercise("sharding.parallel_blocks", weight=4)
def test_any_attention(submission, expect, rng):
    """Attention: any number of heads, values, gradients and collectives."""
    for ranks in (rng.choice((1, 2)), rng.choice((3, 4))):
        heads = ranks + rng.randint(0, 3)
        case = blocks.attention(
            seed_of(rng), ranks, rng.randint(4, 14), heads, rng.choice((2, 4, 6)), *batch_of(rng, 5)
        )
        seen = on_ranks(submission.sharding.ParallelAttention, case)
        layer_values(expect, seen, case, "attention")
        if ranks > 1:
            communicates(expect, seen, case, "attention")


@pytest.mark.exercise("sharding.sequence_parallel_linear", weight=3)
def test_any_way_in(submission, expect, rng):
    """In: any size, values, gradients and collectives."""
    for ranks in (rng.choice((1, 2)), rng.choice((3, 4))):
        case = sequence.sequence_column(
            seed_of(rng),
            ranks,
            rng.randint(4, 20),
            rng.randint(2, 12),
            batch_of(rng, ranks * rng.randint(1, 3)),
            bias=rng.random() < 0.7,
        )
        seen = on_ranks(submission.sharding.SequenceColumnParallelLinear, case)
        layer_values(expect, seen, case, "in")
        if ranks > 1:
            communicates(expect, seen, case, "in")


@pytest.mark.exercise("sharding.sequence_parallel_linear", weight=3)
def test_any_way_out(submission, expect, rng):
    """Out: any size, values, gradients and collectives."""
    for ranks in (rng.choice((1, 2)), rng.choice((3, 4))):
        case = sequence.sequence_row(
            seed_of(rng),
            ranks,
            rng.randint(2, 12),
            rng.randint(4, 20),
            batch_of(rng, ranks * rng.randint(1, 3)),
            bias=ranks > 2 or rng.random() < 0.5,
        )
        seen = on_ranks(submission.sharding.SequenceRowParallelLinear, case)
        layer_values(expect, seen, case, "out")
        if ranks > 1:
            communicates(expect, seen, case, "out")
