"""Hidden checks of training.py: fresh random models, runs and techniques against the reference."""

import pytest

CONVENTIONS = ("6nd", "8nd", "palm", "causal", "megatron-sc21")


def random_sizes(rng):
    """Layers, hidden, sequence and vocabulary, with attention a large part of the FLOPs."""
    hidden = 64 * rng.randint(8, 200)
    return (
        rng.randint(2, 120),
        hidden,
        hidden * rng.randint(1, 6) + rng.randint(1, 999),
        rng.randint(20_000, 300_000),
    )


@pytest.mark.exercise("roofline.training_flops", weight=4)
def test_any_model_under_any_convention(submission, expect, oracle, rng):
    """Any sizes under each of the conventions."""
    for convention in CONVENTIONS:
        for _ in range(3):
            layers, hidden, sequence, vocab = random_sizes(rng)
            parameters = 12 * layers * hidden**2 + rng.randint(1, 10**6)
            arguments = (parameters, rng.randint(10**3, 10**13), convention, layers, hidden, sequence, vocab)
            got = submission.roofline.training_flops(*arguments)
            expect.number(got, oracle.roofline.training_flops(*arguments), rel=1e-9)


@pytest.mark.exercise("roofline.training_flops")
def test_what_a_convention_does_not_read_may_be_left_out(submission, expect, oracle, rng):
    """6ND and 8ND need no shape, and PaLM's and the causal convention no vocabulary."""
    for _ in range(3):
        layers, hidden, sequence, _ = random_sizes(rng)
        parameters, tokens = rng.randint(10**6, 10**12), rng.randint(10**3, 10**13)
        shape = {"layers": layers, "hidden": hidden, "sequence": sequence}
        for convention, given in (("6nd", {}), ("8nd", {}), ("palm", shape), ("causal", shape)):
            got = submission.roofline.training_flops(parameters, tokens, convention=convention, **given)
            right = oracle.roofline.training_flops(parameters, tokens, convention=convention, **given)
            expect.number(got, right, rel=1e-9)


@pytest.mark.exercise("roofline.training_flops", weight=2)
def test_any_run(submission, expect, oracle, rng):
    """Days of runs of minutes and of years."""
    for gpus in (1, *(rng.randint(2, 30_000) for _ in range(6))):
        arguments = (10 ** rng.uniform(18, 26), gpus, rng.uniform(20e12, 800e12))
        expect.number(
            submission.roofline.training_days(*arguments), oracle.roofline.training_days(*arguments)
        )


def random_run(rng):
    """FLOPs of a token, tokens a second, GPUs and their peak, for a utilisation of 1 to 50 %."""
    flops, gpus, peak = rng.uniform(1e9, 1e13), rng.randint(2, 20_000), rng.uniform(60e12, 2000e12)
    return flops, gpus * peak * rng.uniform(0.01, 0.5) / flops, gpus, peak


@pytest.mark.exercise("roofline.utilisation", weight=2)
def test_any_mfu(submission, expect, oracle, rng):
    """MFU of any run, on one GPU or on many."""
    for index in range(8):
        flops, tokens_per_s, gpus, peak = random_run(rng)
        arguments = (flops, tokens_per_s, 1 if index == 0 else gpus, peak)
        expect.number(submission.roofline.mfu(*arguments), oracle.roofline.mfu(*arguments))


@pytest.mark.exercise("roofline.utilisation", weight=3)
def test_any_hfu(submission, expect, oracle, rng):
    """HFU of any run under each kind of recomputation."""
    for recomputation in ("none", "selective", "full"):
        for _ in range(4):
            run = random_run(rng)
            arguments = (*run, recomputation, run[0] * rng.uniform(0.01, 0.3))
            expect.number(submission.roofline.hfu(*arguments), oracle.roofline.hfu(*arguments))


def random_sizes_of(rng, *names):
    """A size for each name, between a kilobyte and a terabyte."""
    return {name: int(10 ** rng.uniform(3, 12)) for name in names}


@pytest.mark.exercise("roofline.lever", weight=3)
def test_any_lever(submission, expect, oracle, rng):
    """Each technique with fresh sizes; what it does not read changes nothing."""
    formats = rng.sample(("fp32", "bf16", "fp8", "int4"), 2)
    small, large = sorted(rng.sample(range(1, 500), 2))
    read = {
        "fusion": random_sizes_of(rng, "intermediate_bytes"),
        "flash": random_sizes_of(rng, "score_bytes", "logsumexp_bytes"),
        "recomputation": random_sizes_of(rng, "activation_bytes", "forward_flops"),
        "quantised_weights": random_sizes_of(rng, "parameters")
        | {"weights_before": formats[0], "weights_after": formats[1]},
        "larger_batch": random_sizes_of(rng, "weight_bytes") | {"batch_before": small, "batch_after": large},
        "offload": random_sizes_of(
            rng, "optimizer_bytes", "optimizer_flops", "gradient_bytes", "weight_bytes"
        ),
    }
    everything = {name: size for sizes in read.values() for name, size in sizes.items()}
    for technique, sizes in read.items():
        for given in (sizes, everything):
            got = submission.roofline.lever(technique, **given)
            expect.terms(got, oracle.roofline.lever(technique, **given))


@pytest.mark.exercise("roofline.lever")
def test_any_zero(submission, expect, oracle, rng):
    """ZeRO at each stage, on one GPU, where nothing changes, and on many."""
    for stage in (1, 2, 3):
        for gpus in (1, rng.randint(2, 9), rng.randint(10, 3000)):
            sizes = random_sizes_of(
                rng, "optimizer_bytes", "optimizer_flops", "weight_bytes", "gradient_bytes"
            )
            got = submission.roofline.lever("zero", **sizes, gpus=gpus, stage=stage)
            expect.terms(got, oracle.roofline.lever("zero", **sizes, gpus=gpus, stage=stage))
