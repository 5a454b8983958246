"""Collectives played out piece by piece give the formulas, and the cuts agree where they are the same thing."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.checks.mistakes import load_solution
from specs import Gpt, GpuShare, Link
from tests.drawn import DRAWN

SOLUTIONS = Path(__file__).parents[2] / "solutions"
collectives = load_solution(SOLUTIONS, "sharding", "collectives.py")
cuts = load_solution(SOLUTIONS, "sharding", "cuts.py")

many = settings(DRAWN, max_examples=40)
some_gpus = st.integers(1, 9)


@st.composite
def gpts(draw: st.DrawFn, gpus: int = 1) -> Gpt:
    """A GPT whose heads and tokens can be dealt out to so many GPUs."""
    heads = gpus * draw(st.integers(1, 4))
    return Gpt(
        layers=draw(st.integers(1, 12)),
        hidden=heads * draw(st.integers(1, 9)),
        heads=heads,
        vocab=draw(st.integers(1, 200)),
        sequence=gpus * draw(st.integers(1, 20)),
    )


def played_ring(gpus: int, laps: int) -> tuple[list[int], int]:
    """Pieces that each GPU sends, and steps, until every piece has gone round so many times less one hop each."""
    sent, steps = [0] * gpus, 0
    for _ in range(laps):
        where = list(range(gpus))  # the GPU that holds piece i now
        visited = [{gpu} for gpu in where]
        while any(len(seen) < gpus for seen in visited):
            for piece, gpu in enumerate(where):
                sent[gpu] += 1
                where[piece] = (gpu + 1) % gpus
                visited[piece].add(where[piece])
            steps += 1
    return sent, steps


def played_tree(gpus: int) -> tuple[list[int], int]:
    """Messages that each GPU sends in a broadcast from GPU 0 down a binomial tree, and levels."""
    sent, levels, having = [0] * gpus, 0, 1
    while having < gpus:
        for gpu in range(min(having, gpus - having)):
            sent[gpu] += 1
        having, levels = min(2 * having, gpus), levels + 1
    return sent, levels


@pytest.mark.parametrize("gpus", range(1, 20))
@pytest.mark.parametrize(("kind", "laps"), [("all_gather", 1), ("reduce_scatter", 1), ("all_reduce", 2)])
def test_a_ring_that_is_played_out_sends_and_lasts_what_the_formula_says(
    kind: str, laps: int, gpus: int
) -> None:
    sent, steps = played_ring(gpus, laps)
    size = 1000 * gpus
    assert {each * 1000 for each in sent} == {collectives.collective_bytes(kind, size, gpus)}
    link = Link(latency_s=3.0, bandwidth_bytes_per_s=500.0)  # a piece takes 3 + 2 s
    assert collectives.collective_time_s(kind, size, gpus, link) == pytest.approx(5 * steps)


@pytest.mark.parametrize("gpus", range(1, 70))
def test_a_tree_that_is_played_out_sends_and_lasts_what_the_formula_says(gpus: int) -> None:
    down, levels = played_tree(gpus)
    up = [0, *[1] * (gpus - 1)]  # everyone but the root hands its sum on once
    link = Link(latency_s=3.0, bandwidth_bytes_per_s=500.0)
    assert collectives.collective_bytes("broadcast", 1000, gpus, "tree") == 1000 * max(down)
    both = max(one + other for one, other in zip(down, up, strict=True))
    assert collectives.collective_bytes("all_reduce", 1000, gpus, "tree") == 1000 * both
    assert collectives.collective_time_s("broadcast", 1000, gpus, link, "tree") == 5 * levels
    assert collectives.collective_time_s("all_reduce", 1000, gpus, link, "tree") == 10 * levels


@many
@given(per_node=st.integers(1, 9), nodes=st.integers(1, 9), size=st.integers(0, 10**9))
def test_a_hierarchy_over_equal_links_sends_what_a_flat_ring_sends_in_fewer_steps(
    per_node: int, nodes: int, size: int
) -> None:
    def seconds(link: Link) -> tuple[float, float]:
        flat = collectives.collective_time_s("all_reduce", size, per_node * nodes, link)
        deep = collectives.collective_time_s(
            "all_reduce", size, per_node * nodes, link, "ring", per_node, link
        )
        return flat, deep

    flat, deep = seconds(Link(latency_s=0, bandwidth_bytes_per_s=1e9))
    assert math.isclose(flat, deep, rel_tol=1e-9, abs_tol=1e-15)
    flat, deep = seconds(Link(latency_s=1, bandwidth_bytes_per_s=1e30))
    assert deep <= flat + 1e-9


def sent(share: GpuShare, kind: str, tensor: str) -> float:
    """Bytes that one GPU sends by this kind for this tensor, 0 where there is no such use."""
    return sum(use.sent_bytes for use in share.collectives if (use.kind, use.tensor) == (kind, tensor))


@many
@given(data=st.data(), batch=st.integers(1, 20), gpus=some_gpus)
def test_zero_1_sends_what_data_parallel_sends_but_for_padding(
    data: st.DataObject, batch: int, gpus: int
) -> None:
    gpt = data.draw(gpts())
    whole, shards = cuts.data_parallel(gpt, batch, gpus), [cuts.zero(gpt, batch, gpus, n) for n in (1, 2, 3)]
    padding = 2 * 2 * (gpt.layers + 1) * (gpus - 1)
    assert whole.sent_bytes <= shards[0].sent_bytes + 1e-6 <= whole.sent_bytes + padding + 1e-6
    assert shards[0].sent_bytes == shards[1].sent_bytes
    assert shards[2].sent_bytes == pytest.approx(1.5 * shards[0].sent_bytes)
    totals = [share.held.total for share in (whole, *shards)]
    assert totals == sorted(totals, reverse=True)


@many
@given(data=st.data(), gpus=some_gpus, batch=st.integers(1, 5), microbatches=st.integers(1, 5))
def test_sequence_parallel_sends_what_tensor_parallel_sends_the_second_gather_aside(
    data: st.DataObject, gpus: int, batch: int, microbatches: int
) -> None:
    arguments = (data.draw(gpts(gpus)), batch, microbatches, gpus)
    tensor, sequence = cuts.tensor_parallel(*arguments), cuts.sequence_parallel(*arguments)
    second_gather = sent(sequence, "reduce_scatter", "activations")
    norms = sent(sequence, "all_reduce", "gradients")
    assert sequence.sent_bytes - second_gather - norms == pytest.approx(tensor.sent_bytes)
    assert sequence.held.weights == tensor.held.weights
    assert sequence.held.activations <= tensor.held.activations


@many
@given(data=st.data(), batch=st.integers(1, 5), microbatches=st.integers(1, 9))
def test_stages_hold_the_model_once_and_one_embedding_twice(
    data: st.DataObject, batch: int, microbatches: int
) -> None:
    gpt = data.draw(gpts())
    stages = data.draw(st.integers(1, gpt.layers))
    shares = [cuts.pipeline_parallel(gpt, batch, microbatches, stages, stage) for stage in range(stages)]
    twice = gpt.token_embedding if stages > 1 else 0
    assert sum(share.held.weights for share in shares) == 2 * (gpt.parameters + twice)
    borders = sum(sent(share, "send", "activations") for share in shares)
    assert borders == sum(sent(share, "send", "activation_gradients") for share in shares)
    assert borders == (stages - 1) * microbatches * batch * gpt.sequence * gpt.hidden * 2


@many
@given(data=st.data(), gpus=some_gpus, batch=st.integers(1, 5), microbatches=st.integers(1, 5))
def test_experts_are_held_once_by_the_group(
    data: st.DataObject, gpus: int, batch: int, microbatches: int
) -> None:
    gpt, own = data.draw(gpts()), data.draw(st.integers(1, 3))
    experts = own * gpus
    alone = cuts.expert_parallel(gpt, experts, 1, batch, microbatches, 1)
    cut = cuts.expert_parallel(gpt, experts, 1, batch, microbatches, gpus)
    assert alone.held.weights - cut.held.weights == 2 * gpt.layers * (experts - own) * gpt.mlp
    # One expert for each token keeps what the dense MLP keeps.
    assert cut.held.activations == cuts.data_parallel(gpt, batch, 1).held.activations


@many
@given(data=st.data(), batch=st.integers(1, 5), microbatches=st.integers(1, 5))
def test_one_gpu_alone_holds_everything_and_sends_nothing(
    data: st.DataObject, batch: int, microbatches: int
) -> None:
    gpt = data.draw(gpts())
    whole = cuts.data_parallel(gpt, batch, 1)
    shares = [
        cuts.tensor_parallel(gpt, batch, microbatches, 1),
        cuts.sequence_parallel(gpt, batch, microbatches, 1),
        cuts.pipeline_parallel(gpt, batch, microbatches, 1, 0),
        *(cuts.zero(gpt, batch, 1, stage) for stage in (1, 2, 3)),
    ]
    assert {share.held for share in shares} == {whole.held}
    assert cuts.context_parallel(gpt, batch, microbatches, 1).held.weights == whole.held.weights
    assert [share.collectives for share in shares] == [()] * len(shares)
