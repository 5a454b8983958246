"""The cost model of plans: numbers by hand, what cannot run and why, and that the solution finds the very best."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.checks.mistakes import load_solution
from specs import Cluster, Gpt, Gpu, Plan, PlanCost, SpecError, gpu, plan_cost

choice = load_solution(Path(__file__).parents[2] / "solutions", "sharding", "choice.py")

# 1e12 FLOP/s of which half is reached, 1e9 bytes a second in the node, 1e8 beyond, 1 GB.
CARD = Gpu(
    name="round",
    dense_tflops={"bf16": 1},
    memory_label_gb=1,
    memory_bytes=10**9,
    memory_bytes_status="estimated",
    hbm_gb_per_s=100,
    nvlink_gb_per_s=1,
)
MODEL = Gpt(layers=4, hidden=64, heads=4, vocab=1000, sequence=128)
N = 4 * (12 * 64**2 + 13 * 64) + (1000 + 128) * 64


def cluster(gpus: int) -> Cluster:
    """Nodes of 4."""
    return Cluster(gpu=CARD, gpus=gpus, gpus_per_node=4, network_gb_per_s=0.1)


def plan(
    data: int = 1,
    tensor: int = 1,
    pipeline: int = 1,
    context: int = 1,
    zero: int = 0,
    recomputation: str = "none",
    microbatch: int = 1,
) -> Plan:
    """A plan that is nothing special but for what is named."""
    return Plan(
        **dict(
            zip(
                Plan.model_fields,
                (data, tensor, pipeline, context, zero, recomputation, microbatch),
                strict=True,
            )
        )
    )


def cost(batch: int, **sizes: int | str) -> PlanCost:
    """What the plan costs on as many GPUs as it has."""
    made = plan(**sizes)  # type: ignore[arg-type]  # sizes and words by name
    gpus = made.data * made.tensor * made.pipeline * made.context
    return plan_cost(MODEL, batch, cluster(gpus), made)


FORWARD = (2 * N + 2 * 4 * 64 * 128) * 128 / 0.5e12
ATTENTION = 2 * 4 * 64 * 128 * 128 / 0.5e12


def test_one_gpu_computes_and_holds_16_bytes_a_parameter() -> None:
    got = cost(6)
    assert MODEL.parameters == N
    assert got.step_s == got.compute_s == pytest.approx(6 * 3 * FORWARD)
    assert (got.weights, got.gradients, got.optimizer, got.gathered) == (2 * N, 2 * N, 12 * N, 0)
    # Korthikanti et al.: 34·s·b·h + 5·a·s²·b a layer
    assert got.activations == pytest.approx(4 * (34 * 128 * 64 + 5 * 4 * 128**2))
    assert got.fits


def test_recomputation_trades_a_forward_for_activations() -> None:
    none, selective, full = (cost(2, recomputation=way) for way in ("none", "selective", "full"))
    assert selective.compute_s - none.compute_s == pytest.approx(2 * ATTENTION)
    assert full.compute_s - none.compute_s == pytest.approx(2 * FORWARD)
    assert selective.activations == 4 * 34 * 128 * 64
    assert full.activations == (4 * 2 + 34) * 128 * 64


def test_a_tensor_group_pays_four_all_reduces_a_layer() -> None:
    got = cost(1, tensor=4)
    assert got.compute_s == pytest.approx(3 * FORWARD / 4)
    assert got.tensor_s == pytest.approx(4 * 4 * 2 * (3 / 4) * 2 * 128 * 64 / 1e9)
    assert cost(1, tensor=4, recomputation="full").tensor_s == pytest.approx(1.5 * got.tensor_s)
    assert got.weights == 2 * N / 4


def test_a_pipeline_waits_p_minus_1_microbatches_and_holds_p_of_them() -> None:
    got = cost(8, pipeline=2)
    one = (3 * FORWARD / 2) + 4 * 128 * 64 / 1e9
    assert got.step_s == pytest.approx((8 + 1) * one)
    assert got.bubble_s == pytest.approx(one)
    assert got.activations == pytest.approx(2 * 2 * (34 * 128 * 64 + 5 * 4 * 128**2))
    assert cost(1, pipeline=2).activations == pytest.approx(got.activations / 2)
    # Two nodes: the sends go over the network.
    far = plan_cost(
        MODEL, 8, Cluster(gpu=CARD, gpus=2, gpus_per_node=1, network_gb_per_s=0.1), plan(pipeline=2)
    )
    assert far.send_s == pytest.approx(10 * got.send_s)


def test_gradients_hide_behind_the_last_backward_and_the_rest_shows() -> None:
    got = cost(8, data=8)
    whole = 2 * (7 / 8) * 2 * N / 4e8
    assert got.data_s == pytest.approx(whole - 2 * FORWARD)
    assert cost(8 * 10**4, data=8, microbatch=10**4).data_s == 0


def test_zero_moves_more_and_holds_less_with_each_stage() -> None:
    stages = [cost(32, data=8, zero=stage) for stage in range(4)]
    once = (7 / 8) * 2 * N / 4e8
    assert stages[1].data_s == stages[0].data_s
    assert stages[2].data_s == pytest.approx(5 * once - 4 * 2 * FORWARD)
    assert stages[3].data_s == pytest.approx(12 * once - 4 * 3 * FORWARD)
    held = [(each.weights, each.gradients, each.optimizer, each.gathered) for each in stages]
    assert held == [
        (2 * N, 2 * N, 12 * N, 0),
        (2 * N, 2 * N, 12 * N / 8, 0),
        (2 * N, 2 * N / 8, 12 * N / 8, 0),
        (2 * N / 8, 2 * N / 8, 12 * N / 8, N),
    ]


def test_a_ring_hides_behind_attention_and_the_rest_shows() -> None:
    got = cost(1, context=4)
    turned = 3 * 4 * 3 * 4 * 32 * 64 / 1e9
    assert got.context_s == pytest.approx(turned - 3 * ATTENTION / 4)
    long = Gpt(layers=4, hidden=64, heads=4, vocab=1000, sequence=10**6)
    assert plan_cost(long, 1, cluster(4), plan(context=4)).context_s == 0


@pytest.mark.parametrize(
    ("gpus", "sizes", "batch", "problem"),
    [
        (4, {"data": 2}, 4, "data · tensor · pipeline · context is 2, and there are 4 GPUs"),
        (8, {"pipeline": 8}, 4, "8 stages are more than the 4 layers"),
        (3, {"pipeline": 3}, 4, "3 stages do not divide 4 layers"),
        (8, {"tensor": 8}, 4, "a tensor group of 8 GPUs is larger than a node of 4"),
        (3, {"tensor": 3}, 4, "a tensor group of 3 does not divide 4 heads"),
        (3, {"context": 3}, 4, "2 · context = 6 does not divide the sequence of 128 tokens"),
        (
            4,
            {"data": 4, "microbatch": 2},
            4,
            "data · microbatch = 8 does not divide the batch of 4 sequences",
        ),
        (
            2,
            {"pipeline": 2, "zero": 2},
            4,
            "ZeRO-2 with 2 stages would reduce gradients for every microbatch",
        ),
        (2, {"pipeline": 2, "zero": 3}, 4, "ZeRO-3 with 2 stages"),
    ],
)
def test_what_cannot_run_says_why_and_does_not_fit(
    gpus: int, sizes: dict[str, Any], batch: int, problem: str
) -> None:
    got = plan_cost(MODEL, batch, cluster(gpus), plan(**sizes))
    assert got.problem.startswith(problem)
    assert not got.fits
    assert got.step_s == got.gpu_bytes == 0


def test_numbers_of_thousands_of_digits_are_refused_like_any_other() -> None:
    huge = 10**4000
    got = plan_cost(MODEL, 4, cluster(4), plan(data=huge, tensor=huge))
    assert got.problem == "data · tensor · pipeline · context is over 1e9, and there are 4 GPUs"
    got = plan_cost(MODEL, 4, cluster(4), plan(data=4, microbatch=huge))
    assert got.problem == "data · microbatch = over 1e9 does not divide the batch of 4 sequences"


def test_what_the_card_cannot_hold_runs_and_does_not_fit() -> None:
    large = Gpt(layers=4, hidden=2048, heads=16, vocab=1000, sequence=128)
    got = plan_cost(large, 1, cluster(1), plan())
    assert not got.problem
    assert got.gpu_bytes > CARD.memory_bytes
    assert not got.fits


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "2", None])
def test_a_plan_takes_whole_sizes_from_1_upwards(size: object) -> None:
    with pytest.raises(SpecError, match="Plan: tensor"):
        plan(tensor=size)  # type: ignore[arg-type]  # what a student may pass


def test_a_cluster_needs_some_link() -> None:
    without = CARD.model_copy(update={"nvlink_gb_per_s": None})
    with pytest.raises(ValueError, match="neither its NVLink nor its PCIe rate is known"):
        Cluster(gpu=without, gpus=2)
    over_pcie = Cluster(gpu=without.model_copy(update={"pcie_gb_per_s": 32}), gpus=2)
    assert over_pcie.hop_bytes_per_s(2) == 32e9
    assert over_pcie.hop_bytes_per_s(9) == 50e9


def test_a_ring_beyond_a_node_goes_over_the_network_of_all_its_members_there() -> None:
    """Rails: 8 GPUs of a node with 50 GB/s each carry 400 GB/s, and their NVLink 450."""
    h100s = Cluster(gpu=gpu("h100-sxm"), gpus=64)
    assert h100s.ring_bytes_per_s(8) == h100s.ring_bytes_per_s(2, 4) == 450e9
    assert h100s.ring_bytes_per_s(64) == 400e9
    assert [h100s.ring_bytes_per_s(8, apart) for apart in (2, 4, 8)] == [200e9, 100e9, 50e9]
    assert h100s.ring_bytes_per_s(4, 16) == 50e9
    fast = Cluster(gpu=gpu("h100-sxm"), gpus=64, network_gb_per_s=100)
    assert fast.ring_bytes_per_s(64) == 450e9


def every_plan(gpus: int, batch: int) -> Iterator[Plan]:
    """All plans on so many GPUs, those that cannot run included."""
    counts = [each for each in range(1, gpus + 1) if gpus % each == 0]
    for data, tensor, pipeline, context in itertools.product(counts, repeat=4):
        if data * tensor * pipeline * context == gpus:
            for microbatch in range(1, batch + 1):
                for zero in range(4):
                    for recomputation in ("none", "selective", "full"):
                        yield plan(data, tensor, pipeline, context, zero, recomputation, microbatch)


@pytest.mark.parametrize(
    ("model", "batch", "gpus"),
    [
        (Gpt(layers=32, hidden=4096, heads=32, vocab=50304, sequence=4096), 16, 8),
        (Gpt(layers=36, hidden=5120, heads=40, vocab=50304, sequence=2048), 12, 12),
        (Gpt(layers=48, hidden=8192, heads=64, vocab=32000, sequence=4096), 8, 16),
        (Gpt(layers=32, hidden=4096, heads=32, vocab=32000, sequence=32768), 2, 8),
    ],
)
def test_no_plan_at_all_is_faster_than_the_solutions(model: Gpt, batch: int, gpus: int) -> None:
    where = Cluster(gpu=gpu("h100-sxm"), gpus=gpus)
    best = plan_cost(model, batch, where, choice.plan(model, batch, where))
    tried = [plan_cost(model, batch, where, each) for each in every_plan(gpus, batch)]
    assert best.fits
    assert best.step_s == min(each.step_s for each in tried if each.fits)
    # The choice is one: the fastest of all does not fit, or is not what a lazy plan would be.
    assert len({each.step_s for each in tried if each.fits}) > 10
