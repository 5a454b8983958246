"""Hidden checks of state.py: fresh random recipes against the reference solution."""

import pytest

from specs import DTYPE_BYTES, Recipe

KEPT = tuple(DTYPE_BYTES)


def random_recipe(rng, name):
    """A recipe with random formats; every optional copy is there or not."""
    maybe = (*KEPT, None)
    return Recipe(
        name=name,
        weights=rng.choice(KEPT),
        gradients=rng.choice(maybe),
        gradient_accumulation=rng.choice(maybe),
        master=rng.choice(maybe),
        moments=tuple(rng.choice(KEPT) for _ in range(rng.randint(0, 3))),
    )


@pytest.mark.exercise("memory.state_bytes_per_parameter", weight=2)
def test_any_recipe(submission, expect, oracle, rng):
    """Recipes that nobody has published come out right too."""
    for index in range(12):
        recipe = random_recipe(rng, f"random-{index}")
        got = submission.memory.state_bytes_per_parameter(recipe)
        expect.terms(got, oracle.memory.state_bytes_per_parameter(recipe))
