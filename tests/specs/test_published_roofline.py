"""The published values of the roofline assignment follow from the reference solution's own functions.

`published_roofline.yaml` says how: which call gives which value, and which values no call gives, and why.
Run this file by itself to print the counts: `python tests/specs/test_published_roofline.py`.
"""

from pathlib import Path

import pytest
from published_walk import Reproduced, Walk

ROOFLINE = Walk("roofline", ("roofline", "mfu", "flops"), Path(__file__).with_name("published_roofline.yaml"))


@pytest.mark.parametrize("entry", ROOFLINE.reproduced, ids=lambda entry: entry.id)
def test_the_solution_reproduces(entry: Reproduced) -> None:
    """The call gives the published value, within the value's own tolerance."""
    ROOFLINE.check_value(entry)


def test_every_exact_value_is_reproduced_or_excluded_and_never_both() -> None:
    """No exact value is unaccounted for, none is listed twice, and no value that is not exact is listed."""
    ROOFLINE.check_every_exact_value_is_listed_once()


def test_what_is_only_recalled_is_excluded_for_that_reason() -> None:
    """A value whose source nobody has seen is not relied on, even where a call would give it."""
    ROOFLINE.check_recalled_values_are_excluded()


def test_the_counts_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    """How many values are reproduced and how many are not, so that a change is seen; printed in every run."""
    with capsys.disabled():
        print(f"\n{ROOFLINE.summary()}")
    assert ROOFLINE.counts() == {
        "roofline": {"reproduced": 16, "no exercise computes it": 4, "lacks inputs": 1},
        "mfu": {"reproduced": 39, "no exercise computes it": 15, "trap": 4},
        "flops": {"reproduced": 33, "no exercise computes it": 3, "trap": 1},
    }


if __name__ == "__main__":
    print(ROOFLINE.summary())
