"""The published values of communication and of cutting a network follow from the reference solutions.

`published_sharding.yaml` says how: which call gives which value, and which values no call gives, and why. Those of
bubbles, critical batches and limits are walked by test_published_sharding_choice.py and counted here with the rest.
Run this file by itself to print the counts: `python tests/specs/test_published_sharding.py`.
"""

from pathlib import Path

import pytest
from published_walk import ExerciseCall, Reproduced, Walk

from specs.published import published_value

SHARDING = Walk(
    "sharding",
    ("comm", "parallel"),
    Path(__file__).with_name("published_sharding.yaml"),
    beside=Path(__file__).with_name("published_sharding_choice.yaml"),
)


@pytest.mark.parametrize("entry", SHARDING.reproduced, ids=lambda entry: entry.id)
def test_the_solution_reproduces(entry: Reproduced) -> None:
    """The call gives the published value, within the value's own tolerance."""
    SHARDING.check_value(entry)


def test_every_exact_value_is_reproduced_or_excluded_and_never_both() -> None:
    """No exact value is unaccounted for, none is listed twice, and no value that is not exact is listed."""
    SHARDING.check_every_exact_value_is_listed_once()


def test_what_is_only_recalled_is_excluded_for_that_reason() -> None:
    """A value whose source nobody has seen is not relied on, even where a call would give it."""
    SHARDING.check_recalled_values_are_excluded()


def test_the_counts_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    """How many values are reproduced and how many are not, so that a change is seen; printed in every run."""
    with capsys.disabled():
        print(f"\n{SHARDING.summary()}")
    assert SHARDING.counts() == {
        "comm": {"reproduced": 27, "no exercise computes it": 3, "trap": 2},
        "parallel": {"reproduced": 4, "no exercise computes it": 6, "formula": 8, "trap": 2},
    }


def test_the_all_to_all_of_deepseek_takes_7k_for_7168() -> None:
    """120.96 us are those of 7000 channels; the model has 7168, and its tokens take 123.86 us."""
    trap = published_value("comm.dsv3.a2a")
    link = {"latency_s": 0, "bandwidth_bytes_per_s": 50e9}

    def us(hidden: int) -> float:
        arguments = {"kind": "send", "size_bytes": 3 * 32 * 9 * hidden, "gpus": 2, "link": link}
        seconds: float = ExerciseCall(exercise="collective_time_s", arguments=arguments).result("sharding")
        return seconds * 1e6

    assert trap.use == "trap"
    assert trap.accepts(us(7000))
    assert us(7168) == pytest.approx(123.863, abs=1e-3)
    assert not trap.accepts(us(7168))


if __name__ == "__main__":
    print(SHARDING.summary())
