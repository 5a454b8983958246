"""Visible checks of ring.py: section 5.

Inputs hold small integers, so sums are exact in any order and any format. What the ranks sent is recorded on them, and
is looked at in every check, once the sums are right.
"""

import pytest

from grader.checks import messages


def inputs_of(ranks, shape, dtype=None, seed=0):
    """One tensor of integers from −8 to 8 for each rank."""
    import torch

    random = torch.Generator().manual_seed(seed)
    return [torch.randint(-8, 9, shape, generator=random).to(dtype or torch.float32) for _ in range(ranks)]


def total(inputs):
    """The sum over the ranks; as contiguous as a new tensor is."""
    import torch

    return torch.stack([each.contiguous() for each in inputs]).sum(0, dtype=inputs[0].dtype)


def check_all_reduce(submission, expect, cases):
    """Each case is a name and the inputs of its ranks; all are run before the first is compared."""
    call = submission.sharding.ring_all_reduce
    told = {
        case: call.on_ranks([(each,) for each in inputs], scenario="with_input")
        for case, inputs in cases.items()
    }
    for case, inputs in cases.items():
        right = total(inputs)
        suspects = messages.usual_mistakes(inputs) if len(inputs) > 1 else {}
        messages.results(expect, told[case], inputs, lambda rank, right=right: right, case, suspects)
        messages.of_all_reduce(expect, told[case], inputs, case)
    return told


@pytest.mark.exercise("sharding.ring_all_reduce", weight=3)
def test_every_rank_gets_the_sum(submission, expect):
    """2, 3 and 4 ranks, 24 numbers: every rank gets the sum, in the shape of its tensor."""
    cases = {f"{ranks} ranks": inputs_of(ranks, (4, 6), seed=ranks) for ranks in (2, 3, 4)}
    check_all_reduce(submission, expect, cases)


@pytest.mark.exercise("sharding.ring_all_reduce", weight=3)
def test_sizes_that_do_not_divide(submission, expect):
    """7 numbers on 3 ranks, 10 on 4, 2 on 4, one on 3, none on 2."""
    cases = {
        "7 numbers on 3 ranks": inputs_of(3, (7,), seed=1),
        "10 numbers on 4 ranks": inputs_of(4, (5, 2), seed=2),
        "2 numbers on 4 ranks": inputs_of(4, (2,), seed=3),
        "one number on 3 ranks": inputs_of(3, (), seed=4),
        "no numbers on 2 ranks": inputs_of(2, (0, 3), seed=5),
    }
    check_all_reduce(submission, expect, cases)


@pytest.mark.exercise("sharding.ring_all_reduce", weight=2)
def test_any_strides_and_formats(submission, expect):
    """A transposed tensor, every second column, bf16 and int64."""
    import torch

    cases = {
        "a transposed tensor": [each.t() for each in inputs_of(3, (4, 5), seed=6)],
        "every second column": [each[:, ::2] for each in inputs_of(2, (3, 8), seed=7)],
        "bf16": inputs_of(3, (8,), torch.bfloat16, seed=8),
        "int64": inputs_of(2, (5,), torch.int64, seed=9),
    }
    check_all_reduce(submission, expect, cases)


@pytest.mark.exercise("sharding.ring_all_reduce")
def test_a_group_of_one_gets_a_copy(submission, expect):
    """One rank: nothing is sent, and the result is a tensor of its own."""
    check_all_reduce(submission, expect, {"one rank": inputs_of(1, (3, 2), seed=10)})


@pytest.mark.exercise("sharding.ring_all_reduce")
def test_a_group_of_some_ranks(submission, expect):
    """Ranks 1, 2 and 4 of 5 in a group of their own: they are numbers 0, 1 and 2 in it."""
    members, inputs = (1, 2, 4), inputs_of(5, (8,), seed=11)
    seen = submission.sharding.ring_all_reduce.on_ranks(
        [(each,) for each in inputs], scenario="subgroup", members=members
    )
    own = [inputs[rank] for rank in members]
    suspects = messages.usual_mistakes(own)
    messages.results(expect, seen, own, lambda rank: total(own), "ranks 1, 2 and 4", suspects)
    messages.of_all_reduce(expect, seen, own, "ranks 1, 2 and 4")


@pytest.mark.exercise("sharding.ring_all_reduce", weight=2)
def test_messages_go_to_one_neighbour(submission, expect):
    """4 ranks: every rank sends to one neighbour alone."""
    told = check_all_reduce(submission, expect, {"4 ranks": inputs_of(4, (4, 7), seed=12)})
    messages.neighbours(expect, told["4 ranks"], "4 ranks")


@pytest.mark.exercise("sharding.ring_all_reduce", weight=3)
def test_bytes_are_those_of_the_formula(submission, expect):
    """1,000,003 numbers of 4 bytes on 4 ranks: 2 · 3 times the tensor in all, a rank 2 · 3/4 of it."""
    check_all_reduce(submission, expect, {"4 ranks": inputs_of(4, (1_000_003,), seed=13)})


# ---- the two halves


def check_reduce_scatter(submission, expect, cases):
    """Each case is a name and the inputs of its ranks."""
    import torch

    call = submission.sharding.reduce_scatter
    told = {
        case: call.on_ranks([(each,) for each in inputs], scenario="with_input")
        for case, inputs in cases.items()
    }
    for case, inputs in cases.items():
        pieces = torch.tensor_split(total(inputs).reshape(-1), len(inputs))
        mine = [torch.tensor_split(each.reshape(-1), len(inputs)) for each in inputs]
        suspects = {
            "messages.next_piece": lambda rank, pieces=pieces: pieces[(rank + 1) % len(pieces)],
            "messages.overwritten": lambda rank, mine=mine: mine[(rank + 1) % len(mine)][rank],
            "messages.own_piece_twice": lambda rank, pieces=pieces, mine=mine: (
                pieces[rank] + mine[rank][rank]
            ),
        }
        if len(inputs) == 1:
            suspects = {}
        messages.results(expect, told[case], inputs, lambda rank, p=pieces: p[rank], case, suspects)
        messages.of_half(expect, told[case], inputs[0], len(inputs), case)
    return told


def check_all_gather(submission, expect, cases):
    """Each case is a name, the number of ranks and the tensor that they have pieces of."""
    import torch

    call = submission.sharding.all_gather
    told, pieces = {}, {}
    for case, (ranks, whole) in cases.items():
        pieces[case] = [piece.clone() for piece in torch.tensor_split(whole, ranks)]
        told[case] = call.on_ranks([(piece, whole.numel()) for piece in pieces[case]], scenario="with_input")
    for case, (ranks, whole) in cases.items():
        parts = pieces[case]
        suspects = {
            "messages.own_piece_first": lambda rank, p=parts, n=ranks: torch.cat(
                [p[(rank - back) % n] for back in range(n)]
            ),
        }
        if ranks == 1:
            suspects = {}
        messages.results(expect, told[case], parts, lambda rank, whole=whole: whole, case, suspects)
        messages.of_half(expect, told[case], whole, ranks, case)
    return told


@pytest.mark.exercise("sharding.reduce_scatter_all_gather", weight=2)
def test_each_rank_gets_its_piece_of_the_sum(submission, expect):
    """2, 3 and 4 ranks, 24 numbers: rank r gets piece r of the sum."""
    cases = {f"{ranks} ranks": inputs_of(ranks, (2, 12), seed=20 + ranks) for ranks in (2, 3, 4)}
    check_reduce_scatter(submission, expect, cases)


@pytest.mark.exercise("sharding.reduce_scatter_all_gather", weight=2)
def test_pieces_come_in_the_order_of_their_ranks(submission, expect):
    """2, 3 and 4 ranks: every rank gets all pieces, rank 0's first."""
    cases = {f"{ranks} ranks": (ranks, inputs_of(1, (12,), seed=30 + ranks)[0]) for ranks in (2, 3, 4)}
    check_all_gather(submission, expect, cases)


@pytest.mark.exercise("sharding.reduce_scatter_all_gather", weight=2)
def test_ragged_and_empty_pieces(submission, expect):
    """7 numbers on 3 ranks in pieces of 3, 2 and 2; 2 on 4 ranks; one rank alone."""
    scattered = {
        "7 numbers on 3 ranks": inputs_of(3, (7,), seed=40),
        "2 numbers on 4 ranks": inputs_of(4, (1, 2), seed=41),
        "one rank": inputs_of(1, (5,), seed=42),
    }
    check_reduce_scatter(submission, expect, scattered)
    gathered = {
        "7 numbers on 3 ranks": (3, inputs_of(1, (7,), seed=43)[0]),
        "2 numbers on 4 ranks": (4, inputs_of(1, (2,), seed=44)[0]),
        "one rank": (1, inputs_of(1, (5,), seed=45)[0]),
    }
    check_all_gather(submission, expect, gathered)


@pytest.mark.exercise("sharding.reduce_scatter_all_gather", weight=2)
def test_each_half_sends_half_the_bytes(submission, expect):
    """1,000,001 numbers of 4 bytes on 3 ranks: each half sends twice the tensor in all, in messages alone."""
    check_reduce_scatter(submission, expect, {"reduce_scatter": inputs_of(3, (1_000_001,), seed=50)})
    check_all_gather(submission, expect, {"all_gather": (3, inputs_of(1, (1_000_001,), seed=51)[0])})
