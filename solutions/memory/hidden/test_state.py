"""Hidden checks of state.py: fresh random recipes, weights, adapters, groups against the reference."""

import pytest

from specs import DTYPE_BYTES, Adapters, Recipe

KEPT = tuple(DTYPE_BYTES)
SIXTEEN_BIT_AND_MORE = ("bf16", "fp16", "fp32")


def random_recipe(rng, name, adapters=None, complete=False):
    """A recipe with random formats; every optional copy is there or not, or all are when `complete`."""
    maybe = KEPT if complete else (*KEPT, None)
    return Recipe(
        name=name,
        weights=rng.choice(KEPT),
        gradients=rng.choice(maybe),
        gradient_accumulation=rng.choice(maybe),
        master=rng.choice(maybe),
        moments=tuple(rng.choice(KEPT) for _ in range(rng.randint(1 if complete else 0, 3))),
        adapters=adapters,
    )


@pytest.mark.exercise("memory.state_bytes_per_parameter", weight=4)
def test_any_recipe(submission, expect, oracle, rng):
    """Recipes that nobody has published come out right too."""
    for index in range(12):
        recipe = random_recipe(rng, f"random-{index}")
        got = submission.memory.state_bytes_per_parameter(recipe)
        expect.terms(got, oracle.memory.state_bytes_per_parameter(recipe))


@pytest.mark.exercise("memory.state_bytes_per_parameter", weight=2)
def test_every_copy_may_be_absent_or_alone(submission, expect, oracle, rng):
    """A recipe without moments, without gradients, or with a single copy of each is a recipe too."""
    formats = rng.sample(SIXTEEN_BIT_AND_MORE, 3)
    recipes = (
        Recipe(name="weights only", weights=formats[0], gradients=None, master=None, moments=()),
        Recipe(name="one moment", weights=formats[1], gradients=formats[2], master=None, moments=("fp8",)),
        Recipe(name="three", weights="fp8", gradients="fp8", master=None, moments=(*formats[:2], "int4")),
    )
    for recipe in recipes:
        got = submission.memory.state_bytes_per_parameter(recipe)
        expect.terms(got, oracle.memory.state_bytes_per_parameter(recipe))


def check_steps(submission, expect, oracle, steps):
    """Every step against the oracle; `steps` hold lost ones and others."""
    for weight, update in steps:
        got = submission.memory.bf16_update_lost(weight, update)
        expect.equal(got, oracle.memory.bf16_update_lost(weight, update))


@pytest.mark.exercise("memory.bf16_update_lost", weight=3)
def test_weights_of_any_size_and_sign(submission, expect, oracle, rng):
    """Steps somewhat shorter and longer than half the gap, up and down, at weights of any size."""
    steps = []
    for _ in range(10):
        exponent = rng.randint(-100, 100)
        # 129 to 254 of 2^(exponent-7): neither a power of two nor the last number below one.
        weight = rng.choice((-1, 1)) * rng.randint(129, 254) * 2.0 ** (exponent - 7)
        half = 2.0 ** (exponent - 8)
        shorter, longer = half * (1 - rng.randint(1, 900) / 1024), half * (1 + rng.randint(1, 900) / 1024)
        steps += [(weight, sign * step) for step in (shorter, longer) for sign in (1, -1)]
    check_steps(submission, expect, oracle, steps)


@pytest.mark.exercise("memory.bf16_update_lost")
def test_ties_and_powers_of_two(submission, expect, oracle, rng):
    """Steps of exactly half the gap, a little less and a little more, powers of two among the weights."""
    steps = []
    for _ in range(6):
        exponent = rng.randint(-60, 60)
        half = 2.0 ** (exponent - 8)
        even = 2 * rng.randint(65, 126)
        for significand in (128, even, even + 1):
            weight = rng.choice((-1, 1)) * significand * 2 * half
            sign = rng.choice((-1, 1))
            factors = (1 - 2.0**-22, 1, 1 + 2.0**-22, 0.5 - 2.0**-22, 0.5, 0.5 + 2.0**-22)
            steps += [(weight, sign * half * factor) for factor in factors]
        steps += [(128 * 2 * half, -half * 0.75), (128 * 2 * half, half * 0.75)]
    check_steps(submission, expect, oracle, steps)


@pytest.mark.exercise("memory.bf16_update_lost")
def test_zero_no_step_and_the_smallest_numbers(submission, expect, oracle, rng):
    """A weight of zero, a step of zero, and numbers so small that the gap no longer shrinks."""
    step = 2.0**-133  # between neighbours up to 2^-125, a power of two included
    steps = [(0.0, 0.0), (0.0, step / 2), (0.0, 0.75 * step), (0.0, rng.randint(1, 99) / 8), (1.0, 0.0)]
    for significand in (1, 2, 2 * rng.randint(2, 60), 2 * rng.randint(2, 60) + 1, 128):
        for factor in (0.25, 0.5, 0.75, -0.25, -0.5, -0.75):
            steps.append((significand * step, factor * step))
    check_steps(submission, expect, oracle, steps)


def random_matrices(rng):
    """Between 1 and 5 matrices, none of them square."""
    return tuple((rng.randint(100, 4000), rng.randint(4100, 9000)) for _ in range(rng.randint(1, 5)))


@pytest.mark.exercise("memory.adapter_state_bytes", weight=3)
def test_adapters_over_a_quantised_base(submission, expect, oracle, rng):
    """Any block sizes, also such that do not divide the base; constants quantised again or not."""
    for index in range(8):
        block = rng.choice((32, 64, 100, 128))
        adapters = Adapters(
            frozen_weights=rng.choice(("nf4", "int8", "fp4", "fp8")),
            quantization_block=block,
            double_quantization_block=rng.choice((48, 128, 256)) if index % 2 else None,
        )
        recipe = random_recipe(rng, f"random-{index}", adapters)
        arguments = (rng.randint(10**6, 10**11), random_matrices(rng), rng.randint(1, 300), recipe)
        got = submission.memory.adapter_state_bytes(*arguments)
        expect.terms(got, oracle.memory.adapter_state_bytes(*arguments))


@pytest.mark.exercise("memory.adapter_state_bytes", weight=3)
def test_adapters_over_a_base_as_it_is(submission, expect, oracle, rng):
    """Any format of the base and of what is trained, ranks from 1."""
    for rank in (1, *(rng.randint(2, 300) for _ in range(7))):
        recipe = random_recipe(rng, f"rank-{rank}", Adapters(frozen_weights=rng.choice(SIXTEEN_BIT_AND_MORE)))
        arguments = (rng.randint(10**6, 10**11), random_matrices(rng), rank, recipe)
        got = submission.memory.adapter_state_bytes(*arguments)
        expect.terms(got, oracle.memory.adapter_state_bytes(*arguments))


@pytest.mark.exercise("memory.zero_state_bytes", weight=4)
def test_any_group_stage_and_offload(submission, expect, oracle, rng):
    """Every stage with every offload, for any recipe and number of GPUs, also such that do not divide."""
    for stage in range(4):
        for offload in ("none", "optimizer", "all"):
            parameters = rng.randint(10**6, 10**12)
            recipe = random_recipe(rng, f"stage-{stage}-{offload}", complete=True)
            largest = rng.randint(1000, parameters // 2)
            arguments = (parameters, recipe, rng.randint(2, 2000), stage, offload, largest)
            got = submission.memory.zero_state_bytes(*arguments)
            expect.terms(got, oracle.memory.zero_state_bytes(*arguments))


@pytest.mark.exercise("memory.zero_state_bytes", weight=3)
def test_one_gpu_alone_and_defaults(submission, expect, oracle, rng):
    """One GPU holds everything at every stage; without a largest layer nothing is gathered."""
    for stage in range(4):
        parameters, recipe = rng.randint(10**6, 10**12), random_recipe(rng, f"alone-{stage}")
        got = submission.memory.zero_state_bytes(parameters, recipe, 1, stage)
        expect.terms(got, oracle.memory.zero_state_bytes(parameters, recipe, 1, stage))
        gpus = rng.randint(2, 2000)
        got = submission.memory.zero_state_bytes(parameters, recipe, gpus=gpus, stage=stage)
        expect.terms(got, oracle.memory.zero_state_bytes(parameters, recipe, gpus=gpus, stage=stage))
