"""Hidden checks of ring.py: any number of ranks, sizes and strides, and bytes of ragged tensors.

Inputs hold small integers, so sums are exact in any order and any format.
"""

import pytest

from grader.checks import messages


def random_inputs(rng, ranks, least=1, most=60):
    """One tensor for each rank, all of one shape, strides and format."""
    import torch

    shape = tuple(rng.choice([(rng.randint(least, most),), (rng.randint(1, 7), rng.randint(least, 9))]))
    dtype = rng.choice((torch.float32, torch.float64, torch.bfloat16, torch.int32))
    turned = len(shape) == 2 and rng.random() < 0.5
    draw = torch.Generator().manual_seed(rng.getrandbits(32))
    inputs = [torch.randint(-8, 9, shape, generator=draw).to(dtype) for _ in range(ranks)]
    return [each.t() if turned else each for each in inputs]


def total(inputs):
    """The sum over the ranks."""
    import torch

    return torch.stack([each.contiguous() for each in inputs]).sum(0, dtype=inputs[0].dtype)


@pytest.mark.exercise("sharding.ring_all_reduce", weight=8)
def test_any_tensor_on_any_number_of_ranks(submission, expect, rng):
    """Any shape, strides and format on 2, 3 and 4 ranks, divisible or not, by messages between neighbours."""
    cases = [random_inputs(rng, ranks) for ranks in (2, 3, 4, 3)]
    cases.append(random_inputs(rng, 4, least=1, most=3))
    call = submission.sharding.ring_all_reduce
    told = [call.on_ranks([(each,) for each in inputs], scenario="with_input") for inputs in cases]
    for seen, inputs in zip(told, cases, strict=True):
        right, case = total(inputs), f"{len(inputs)} ranks"
        suspects = messages.usual_mistakes(inputs)
        messages.results(expect, seen, inputs, lambda rank, right=right: right, case, suspects)
        messages.of_all_reduce(expect, seen, inputs, case)
        messages.neighbours(expect, seen, case)


@pytest.mark.exercise("sharding.ring_all_reduce", weight=5)
def test_bytes_of_any_size(submission, expect, rng):
    """A million elements and some more on 2, 3 and 4 ranks: exactly the bytes of the formula."""
    import torch

    for ranks in (2, 3, 4):
        elements = 1_000_000 + rng.randint(1, 99)
        draw = torch.Generator().manual_seed(rng.getrandbits(32))
        inputs = [torch.randint(-8, 9, (elements,), generator=draw).float() for _ in range(ranks)]
        seen = submission.sharding.ring_all_reduce.on_ranks(
            [(each,) for each in inputs], scenario="with_input"
        )
        right, case = total(inputs), f"{ranks} ranks"
        suspects = messages.usual_mistakes(inputs)
        messages.results(expect, seen, inputs, lambda rank, right=right: right, case, suspects)
        messages.of_all_reduce(expect, seen, inputs, case)


@pytest.mark.exercise("sharding.ring_all_reduce", weight=2)
def test_any_group(submission, expect, rng):
    """Some of 4 ranks in a group of their own."""
    members = tuple(sorted(rng.sample(range(1, 4), 2)))
    inputs = random_inputs(rng, 4)
    seen = submission.sharding.ring_all_reduce.on_ranks(
        [(each,) for each in inputs], scenario="subgroup", members=members
    )
    own = [inputs[rank] for rank in members]
    suspects = messages.usual_mistakes(own)
    messages.results(expect, seen, own, lambda rank: total(own), "a group of two", suspects)
    messages.of_all_reduce(expect, seen, own, "a group of two")


@pytest.mark.exercise("sharding.reduce_scatter_all_gather", weight=4)
def test_any_piece_of_any_sum(submission, expect, rng):
    """reduce_scatter of any tensor on 2, 3 and 4 ranks, and the bytes of it."""
    import torch

    for ranks in (2, 3, 4):
        inputs = random_inputs(rng, ranks)
        seen = submission.sharding.reduce_scatter.on_ranks(
            [(each,) for each in inputs], scenario="with_input"
        )
        pieces = torch.tensor_split(total(inputs).reshape(-1), ranks)
        mine = [torch.tensor_split(each.reshape(-1), ranks) for each in inputs]
        suspects = {
            "messages.next_piece": lambda rank, p=pieces: p[(rank + 1) % len(p)],
            "messages.overwritten": lambda rank, mine=mine: mine[(rank + 1) % len(mine)][rank],
            "messages.own_piece_twice": lambda rank, p=pieces, mine=mine: p[rank] + mine[rank][rank],
        }
        case = f"{ranks} ranks"
        messages.results(expect, seen, inputs, lambda rank, p=pieces: p[rank], case, suspects)
        messages.of_half(expect, seen, inputs[0], ranks, case)


@pytest.mark.exercise("sharding.reduce_scatter_all_gather", weight=4)
def test_any_pieces_gathered(submission, expect, rng):
    """all_gather of pieces of any tensor on 2, 3 and 4 ranks, and the bytes of it."""
    import torch

    for ranks in (2, 3, 4):
        whole = random_inputs(rng, 1)[0].reshape(-1).contiguous()
        pieces = [piece.clone() for piece in torch.tensor_split(whole, ranks)]
        seen = submission.sharding.all_gather.on_ranks(
            [(piece, whole.numel()) for piece in pieces], scenario="with_input"
        )
        suspects = {
            "messages.own_piece_first": lambda rank, p=pieces: torch.cat(
                [p[(rank - back) % len(p)] for back in range(len(p))]
            ),
        }
        case = f"{ranks} ranks"
        messages.results(expect, seen, pieces, lambda rank, whole=whole: whole, case, suspects)
        messages.of_half(expect, seen, whole, ranks, case)
