"""The oracle of training on ranks: its AdamW is torch's, its faults are faults, its buckets are DDP's rule."""

import pytest
import torch

from kernels_ref.shards import training

HYPER = {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.2}
FAULTS = ("l2_decay", "no_decay", "no_bias_correction", "eps_inside", "sgd")


def _steps() -> tuple[list[torch.Tensor], list[list[torch.Tensor]]]:
    values = training.matrices(1, (4, 3), (3, 2))
    generator = torch.Generator().manual_seed(2)
    return values, [[torch.randn(each.shape, generator=generator) for each in values] for _ in range(4)]


def test_adamw_is_torchs() -> None:
    """Four steps in fp64, the parameters after each of them."""
    values, by_step = _steps()
    held = [torch.nn.Parameter(each.double()) for each in values]
    optimizer = torch.optim.AdamW(held, foreach=False, **HYPER)  # type: ignore[arg-type]  # a dict of several types
    for row, given in zip(training.adamw(values, by_step, torch.float64, HYPER), by_step, strict=True):
        for each, gradient in zip(held, given, strict=True):
            each.grad = gradient.double()
        optimizer.step()
        for mine, each in zip(row, held, strict=True):
            torch.testing.assert_close(mine, each.detach(), rtol=1e-12, atol=0)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_far_from_rounding(fault: str) -> None:
    """After one step already each fault is a thousand times as far off as fp32."""
    values, by_step = _steps()
    right, wrong = (training.adamw(values, by_step, torch.float64, HYPER, kind)[0][0] for kind in ("", fault))
    assert float((wrong - right).norm() / right.norm()) > 1e-4


def test_a_whole_run_descends() -> None:
    """Its gradients are those of `gradients`, and its loss falls."""
    blocks = [(training.matrices(3, (4, 4), (4, 2)), [0, 1])]
    steps = [[training.batch(5 + rank, 3, 4, 2)] * 5 for rank in range(2)]
    run = training.whole_run(blocks, steps, torch.float64, HYPER)
    parts = [(1 / 6, [0, 1], *own[0]) for own in steps]
    wanted = training.gradients(blocks[0][0], parts, torch.float64)
    for mine, other in zip(run.gradients[0][0], wanted, strict=True):
        assert other is not None
        torch.testing.assert_close(mine, other)
    inputs, targets = steps[0][0]
    before = training.outputs(blocks[0][0], [0, 1], inputs, torch.float64)
    assert (run.evaluated[0] - targets).norm() < (before - targets).norm()


def test_shards_have_every_element_once_and_zeros_behind() -> None:
    """Five elements on three ranks: 2, 2, 1 and a zero."""
    parts = training.shards([torch.arange(1.0, 4.0), torch.tensor([[4.0], [5.0]])], 3)
    assert [part.tolist() for part in parts] == [[1, 2], [3, 4], [5, 0]]


@pytest.mark.parametrize(
    ("bucket_bytes", "wanted"),
    [
        (1, [[2], [1], [0]]),
        (100, [[2, 1, 0]]),
        (30, [[2, 1], [0]]),
        (29, [[2], [1, 0]]),
        (10, [[2], [1], [0]]),
    ],
)
def test_buckets_are_filled_from_the_last_parameter(bucket_bytes: int, wanted: list[list[int]]) -> None:
    """Parameters of 12, 10 and 20 bytes."""
    assert training.buckets({0: 12, 1: 10, 2: 20}, bucket_bytes) == wanted
