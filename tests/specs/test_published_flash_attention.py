"""The published values of FlashAttention follow from the reference solutions' own functions.

`published_flash_attention.yaml` says how: which call gives which value. Run this file by itself to print the
counts: `python tests/specs/test_published_flash_attention.py`.
"""

from pathlib import Path

import pytest
from published_walk import Reproduced, Walk

# The calls are of the roofline assignment, which counts FLOPs; see the head of the mapping.
FLASH = Walk("roofline", ("flash_attention",), Path(__file__).with_name("published_flash_attention.yaml"))


@pytest.mark.parametrize("entry", FLASH.reproduced, ids=lambda entry: entry.id)
def test_the_solution_reproduces(entry: Reproduced) -> None:
    """The call gives the published value, within the value's own tolerance."""
    FLASH.check_value(entry)


def test_every_exact_value_is_reproduced_or_excluded_and_never_both() -> None:
    """No exact value is unaccounted for, none is listed twice, and no value that is not exact is listed."""
    FLASH.check_every_exact_value_is_listed_once()


def test_what_is_only_recalled_is_excluded_for_that_reason() -> None:
    """A value whose source nobody has seen is not relied on, even where a call would give it."""
    FLASH.check_recalled_values_are_excluded()


def test_the_counts_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    """How many values are reproduced and how many are not, so that a change is seen; printed in every run."""
    with capsys.disabled():
        print(f"\n{FLASH.summary()}")
    assert FLASH.counts() == {"flash_attention": {"reproduced": 5, "trap": 1}}


if __name__ == "__main__":
    print(FLASH.summary())
