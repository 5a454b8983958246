"""The published values of bubbles, critical batches, limits and ring attention follow from the reference solutions.

`published_sharding_choice.yaml` says which call gives which exact value; test_published_sharding.py counts them with
the rest of their topics. Bubbles and traps are computed here: each is a matter of which convention, or of a slip.
"""

from pathlib import Path

import pytest
from published_walk import Reproduced, Walk

from grader.checks.mistakes import load_solution
from grader.schedules.simulator import simulate
from specs.published import PublishedValue, published, published_value

SOLUTIONS = Path(__file__).parents[2] / "solutions"
bubbles = load_solution(SOLUTIONS, "sharding", "bubbles.py")
choice = load_solution(SOLUTIONS, "sharding", "choice.py")

CHOICE = Walk("sharding", ("comm", "parallel"), Path(__file__).with_name("published_sharding_choice.yaml"))
BUBBLES = [value for value in published("parallel") if value.id.startswith("pp.")]


@pytest.mark.parametrize("entry", CHOICE.reproduced, ids=lambda entry: entry.id)
def test_the_solution_reproduces(entry: Reproduced) -> None:
    """The call gives the published value, within the value's own tolerance."""
    CHOICE.check_value(entry)


def test_only_exact_values_are_listed() -> None:
    """Each id is that of an exact value of the two topics, and is there once."""
    listed = [value_id for value_id, _ in CHOICE.accounted_for]
    exact = {value.id for value in CHOICE.published if value.use == "exact"}
    assert len(set(listed)) == len(listed) == 12
    assert set(listed) <= exact


@pytest.mark.parametrize("value", BUBBLES, ids=lambda value: value.id)
def test_each_convention_of_the_bubble_has_its_own_field(value: PublishedValue) -> None:
    """pp.bubblefrac is `of_total`, pp.bubble is `over_ideal`; without chunks 1F1B waits as the formula says."""
    stages, microbatches, chunks = (int(value.inputs[letter]) for letter in "pmv")
    got = bubbles.bubble_fraction("interleaved", stages, microbatches, chunks)
    field = "of_total" if value.id.startswith("pp.bubblefrac.") else "over_ideal"
    other = "over_ideal" if field == "of_total" else "of_total"
    assert value.accepts(getattr(got, field))
    assert not value.accepts(getattr(got, other))
    if chunks == 1:
        for kind in ("gpipe", "1f1b"):
            entries = bubbles.pipeline_schedule(kind, stages, microbatches)
            assert value.accepts(getattr(simulate(entries, stages, microbatches), field))


def test_there_are_8_bubbles_and_none_is_left_out() -> None:
    """Four pipelines over two denominators."""
    assert len(BUBBLES) == 8
    assert {value.use for value in BUBBLES} == {"formula"}


def test_the_quiz_divides_by_a_left_over_constant() -> None:
    """The chapter's own C/W of 2200 allows 13.03 ways, and its quiz prints 14.37."""
    trap = published_value("jax.gpu.l70.tp_limit")
    limit = choice.tp_limit(28672, 990e12, 450e9)
    assert trap.use == "trap"
    assert limit == pytest.approx(13.0327, abs=1e-4)
    assert not trap.accepts(limit)


def test_the_row_of_infiniband_is_misprinted() -> None:
    """312 TFLOP/s over 12.5 GB/s is 24.96 thousand tokens, and the table prints 24.5."""
    trap = published_value("comm.ring.a100ib.c")
    block = choice.ring_attention_min_block(312e12, 12.5e9)
    assert trap.use == "trap"
    assert block == pytest.approx(24_960)
    assert not trap.accepts(block / 1000)
