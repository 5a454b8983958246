"""Hidden checks of roofline.py: fresh random cards, operations and layers against the reference."""

import pytest

from specs import DTYPE_BYTES, Cost, Gpu

FORMATS = ("fp32", "tf32", "bf16", "fp8", "int8")


def random_card(rng, name):
    """A card with another rate for each format, none of them twice another; whole TFLOP/s and GB/s."""
    rates = dict(zip(FORMATS, rng.sample(range(101, 200), len(FORMATS)), strict=True))
    return Gpu(
        name=name,
        dense_tflops=rates,
        memory_label_gb=80,
        memory_bytes=80_000_000_000,
        memory_bytes_status="estimated",
        hbm_gb_per_s=rng.randint(300, 9000),
    )


def random_cost(rng):
    """An operation on either side of most ridges."""
    moved = rng.randint(10**3, 10**10)
    read = rng.randint(moved // 10, moved)
    return Cost(flops=int(moved * 10 ** rng.uniform(-1, 4)), bytes_read=read, bytes_written=moved - read)


def cost_at(card, dtype, share, moved):
    """An operation at `share` of a card's ridge; exactly at it for a share of 1."""
    flops = card.dense_tflops[dtype] * 1000 * moved * share
    moved = moved * int(card.hbm_gb_per_s)
    return Cost(flops=flops, bytes_read=moved // 3, bytes_written=moved - moved // 3)


@pytest.mark.exercise("roofline.roofline_model")
def test_any_intensity(submission, expect, oracle, rng):
    """Intensities of any operation, with and without writes."""
    costs = [random_cost(rng) for _ in range(8)]
    costs += [Cost(flops=cost.flops, bytes_read=cost.bytes_read, bytes_written=0) for cost in costs[:2]]
    costs += [
        Cost(flops=0, bytes_read=0, bytes_written=7),
        Cost(flops=rng.randint(1, 99), bytes_read=0, bytes_written=0),
    ]
    for cost in costs:
        got = submission.roofline.arithmetic_intensity(cost)
        expect.number(got, oracle.roofline.arithmetic_intensity(cost))


@pytest.mark.exercise("roofline.roofline_model")
def test_any_card(submission, expect, oracle, rng):
    """Ridges of cards that nobody sells, in every format."""
    for index, dtype in enumerate((*FORMATS, *FORMATS)):
        card = random_card(rng, f"card-{index}")
        expect.number(submission.roofline.ridge_point(card, dtype), oracle.roofline.ridge_point(card, dtype))


@pytest.mark.exercise("roofline.roofline_model")
def test_any_roof(submission, expect, oracle, rng):
    """The roof left and right of any card's ridge."""
    for index, dtype in enumerate((*FORMATS, *FORMATS)):
        card = random_card(rng, f"card-{index}")
        ridge = card.peak_flops(dtype) / card.hbm_bytes_per_s
        for share in (0, rng.uniform(0.01, 0.45), rng.uniform(0.55, 0.95), rng.uniform(1.05, 1.9), 30):
            arguments = (ridge * share, card, dtype)
            got = submission.roofline.attainable_flops(*arguments)
            expect.number(got, oracle.roofline.attainable_flops(*arguments))


@pytest.mark.exercise("roofline.roofline_model")
def test_any_time(submission, expect, oracle, rng):
    """Times of any operation on any card."""
    for index, dtype in enumerate((*FORMATS, *FORMATS)):
        card = random_card(rng, f"card-{index}")
        for cost in (random_cost(rng), random_cost(rng), Cost(flops=0, bytes_read=99, bytes_written=0)):
            got = submission.roofline.time_s(cost, card, dtype)
            expect.number(got, oracle.roofline.time_s(cost, card, dtype))


@pytest.mark.exercise("roofline.roofline_model")
def test_any_bound(submission, expect, oracle, rng):
    """Operations left of the ridge, right of it, near it and exactly at it."""
    for index, dtype in enumerate((*FORMATS, *FORMATS)):
        card = random_card(rng, f"card-{index}")
        moved = rng.randint(3, 1000)
        for share in (0, 0.4, 0.6, 0.999, 1, 1.001, 1.5, 1.9, 3):
            cost = cost_at(card, dtype, share, moved)
            got = submission.roofline.bound(cost, card, dtype)
            expect.equal(got, oracle.roofline.bound(cost, card, dtype))


@pytest.mark.exercise("roofline.critical_batch", weight=3)
def test_any_wide_layer(submission, expect, oracle, rng):
    """Any card, arithmetic and format of the weights, when activations do not count."""
    for index, weights in enumerate(DTYPE_BYTES):
        card = random_card(rng, f"card-{index}")
        arguments = (card, rng.choice(FORMATS), weights)
        got = submission.roofline.critical_batch(*arguments)
        expect.number(got, oracle.roofline.critical_batch(*arguments))


@pytest.mark.exercise("roofline.critical_batch", weight=3)
def test_any_layer(submission, expect, oracle, rng):
    """Layers of any two widths, also such that never cross."""
    for index, weights in enumerate(DTYPE_BYTES):
        card, compute = random_card(rng, f"card-{index}"), rng.choice(FORMATS)
        # With both widths at this one, a token's activations take exactly as long as its FLOPs.
        limit = card.peak_flops(compute) / card.hbm_bytes_per_s * DTYPE_BYTES[compute]
        wide = [int(limit * factor) + 1 for factor in (rng.uniform(1.1, 2), rng.uniform(2.5, 9))]
        for inputs, outputs in (wide, reversed(wide), [int(limit * 0.9), int(limit * 0.5) + 1]):
            arguments = (card, compute, weights, max(1, inputs), outputs)
            got = submission.roofline.critical_batch(*arguments)
            expect.number(got, oracle.roofline.critical_batch(*arguments))
