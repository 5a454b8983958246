"""The oracle of layers on ranks: parts make up the whole, and every usual mistake is far from right."""

import itertools

import pytest

torch = pytest.importorskip("torch")

from grader.checks.closeness import relative_error  # noqa: E402  # after the line that skips
from kernels_ref import inputs  # noqa: E402  # as above
from kernels_ref.naive import attention  # noqa: E402  # as above
from kernels_ref.shards import blocks, linear, ring, sequence  # noqa: E402  # as above
from kernels_ref.shards.case import Case  # noqa: E402  # as above

CASES = {
    "columns": linear.column(1, 3, 10, 7, (2, 3)),
    "columns_gathered": linear.column(2, 3, 10, 7, (1, 4), gather_output=True),
    "rows": linear.row(3, 3, 7, 10, (2, 3)),
    "rows_whole": linear.row(4, 3, 7, 10, (1, 4), input_is_parallel=False),
    "mlp": blocks.mlp(5, 3, 6, 14, (2, 3)),
    "attention": blocks.attention(6, 2, 8, 5, 4, 2, 6),
    "way_in": sequence.sequence_column(7, 3, 10, 7, (2, 6)),
    "way_out": sequence.sequence_row(8, 3, 7, 10, (2, 6)),
}
LAST = {"columns": "output", "rows": "gradient of x", "way_in": "output", "way_out": "gradient of x"}
"""What is cut along its last dimension."""


@pytest.mark.parametrize("name", CASES)
def test_shards_of_the_parameters_make_up_the_whole(name: str) -> None:
    case: Case = CASES[name]
    for parameter, whole in case.whole.items():
        parts = [shapes[parameter] for shapes in case.shapes]
        differ = [dim for dim in range(len(whole)) if len({part[dim] for part in parts}) > 1]
        if parts[0] == whole:  # a bias that every rank has
            assert set(parts) == {whole}
            continue
        (dim,) = differ
        assert sum(part[dim] for part in parts) == whole[dim]


@pytest.mark.parametrize(("name", "cut"), LAST.items())
def test_parts_put_together_are_what_one_process_computes(name: str, cut: str) -> None:
    case: Case = CASES[name]
    weight, bias = case.init[0].double(), case.init[1].double()
    together = torch.cat([wanted[cut][0] for wanted in case.wanted], -1)
    if cut == "output":
        x = case.args[0][0] if name == "columns" else torch.cat([x for x, _ in case.args], -2)
        right = torch.nn.functional.linear(x.double(), weight, bias)
    else:
        grad = case.args[0][1] if name == "rows" else torch.cat([grad for _, grad in case.args], -2)
        right = grad.double() @ weight
    assert relative_error(together, right) < 1e-14


@pytest.mark.parametrize("name", CASES)
def test_a_usual_mistake_is_far_from_right_and_from_every_other(name: str) -> None:
    case: Case = CASES[name]
    for wanted, suspects in zip(case.wanted, case.suspects, strict=True):
        for tensor, by_symptom in suspects.items():
            values = {symptom: value() for symptom, value in by_symptom.items()}
            for symptom, value in values.items():
                assert relative_error(value, wanted[tensor][0]) > 3e-5, symptom
            for (one, left), (other, right) in itertools.combinations(values.items(), 2):
                assert relative_error(left, right) > 1e-5, (one, other)


@pytest.mark.parametrize(("tokens", "ranks"), [(8, 1), (8, 2), (13, 3), (17, 4)])
@pytest.mark.parametrize("causal", [False, True])
def test_ranks_hold_every_token_once(tokens: int, ranks: int, causal: bool) -> None:
    held = ring.positions(tokens, ranks, causal)
    assert sorted(itertools.chain(*held)) == list(range(tokens))
    assert all(part == sorted(part) for part in held)


@pytest.mark.parametrize("causal", [False, True])
def test_a_usual_mistake_on_a_ring_is_far_from_right(causal: bool) -> None:
    tensors = [each.double() for each in inputs.peaked(9, 16, 16, 8, leading=(2,), query_scale=2.0)]
    right = dict(zip(("out", "lse"), attention(*tensors, causal=causal), strict=True))
    for rank, held in enumerate(ring.positions(16, 4, causal)):
        wrong = ring.ring_attention_suspects(*tensors, 4, rank, causal)
        for name, by_symptom in wrong.items():
            own = right[name][..., held, :] if name == "out" else right[name][..., held]
            for symptom, value in by_symptom.items():
                found = value()
                unseen = symptom == "ring.last_hop_missing" and relative_error(found, own) == 0.0
                assert unseen or not relative_error(found, own) < 1e-4, (symptom, rank)
