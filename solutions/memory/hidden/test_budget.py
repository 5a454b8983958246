"""Hidden checks of budget.py: fresh random bills and cards against the reference solution."""

import pytest

from specs import DTYPE_BYTES, Gpu, StateBytes


def random_gpu(rng, name):
    """A card whose memory is not what its label says, neither in GB nor in GiB."""
    label_gb = rng.choice((16, 24, 40, 48, 80, 141, 192, 288))
    return Gpu(
        name=name,
        dense_tflops={"bf16": 100},
        memory_label_gb=label_gb,
        memory_bytes=int(label_gb * 2**30 * rng.uniform(0.85, 0.98)),
        memory_bytes_status="estimated",
        hbm_gb_per_s=1000,
    )


@pytest.mark.exercise("memory.memory_budget", weight=3)
def test_any_bill(submission, expect, oracle, rng):
    """Training and serving, for any number of parameters, any state and any cache."""
    for _ in range(6):
        state = {term: rng.choice((0, 0.5, 1, 2, 3, 4, 6, 8)) for term in StateBytes.model_fields}
        training = (rng.randint(10**6, 10**12), StateBytes(**state), rng.randint(0, 10**12))
        got = submission.memory.training_memory(*training)
        expect.terms(got, oracle.memory.training_memory(*training))
        serving = (rng.randint(10**6, 10**12), rng.choice(tuple(DTYPE_BYTES)), rng.randint(0, 10**12))
        got = submission.memory.inference_memory(*serving)
        expect.terms(got, oracle.memory.inference_memory(*serving))


@pytest.mark.exercise("memory.memory_budget", weight=2)
def test_survivors_among_any_cards(submission, expect, oracle, rng):
    """Any cards in any order, bills that fit one of them exactly or by a byte not."""
    cards = [random_gpu(rng, f"card-{index}") for index in range(12)]
    exact = rng.choice(cards).memory_bytes
    bills = (exact, exact + 1, exact - 1, 1, 10**12, rng.randint(10**9, 3 * 10**11), rng.uniform(1e9, 3e11))
    for total in bills:
        got = submission.memory.surviving_gpus(total, cards)
        expect.equal(got, oracle.memory.surviving_gpus(total, cards))


@pytest.mark.exercise("memory.memory_budget", weight=2)
def test_how_many_of_any_card(submission, expect, oracle, rng):
    """Bills from nothing to thousands of cards, exact multiples and one byte more among them."""
    for index in range(6):
        card = random_gpu(rng, f"card-{index}")
        many = rng.randint(2, 5000)
        bills = (0, 1, many * card.memory_bytes, many * card.memory_bytes + 1, rng.uniform(1e9, 1e14))
        for total in bills:
            got = submission.memory.gpus_needed(total, card)
            expect.number(got, oracle.memory.gpus_needed(total, card))
