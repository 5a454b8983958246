"""The published values of the memory assignment follow from the reference solution's own functions.

`published_memory.yaml` says how: which call gives which value, and which values no call gives, and why.
Run this file by itself to print the counts: `python tests/specs/test_published_memory.py`.
"""

from pathlib import Path

import pytest
from published_walk import Reproduced, Walk

from specs import gpu
from specs.published import published_value

MEMORY = Walk(
    "memory",
    ("params", "state", "zero", "activation", "kv", "units"),
    Path(__file__).with_name("published_memory.yaml"),
)


@pytest.mark.parametrize("entry", MEMORY.reproduced, ids=lambda entry: entry.id)
def test_the_solution_reproduces(entry: Reproduced) -> None:
    """The call gives the published value, within the value's own tolerance."""
    MEMORY.check_value(entry)


def test_every_exact_value_is_reproduced_or_excluded_and_never_both() -> None:
    """No exact value is unaccounted for, none is listed twice, and no value that is not exact is listed."""
    MEMORY.check_every_exact_value_is_listed_once()


def test_what_is_only_recalled_is_excluded_for_that_reason() -> None:
    """A value whose source nobody has seen is not relied on, even where a call would give it."""
    MEMORY.check_recalled_values_are_excluded()


def test_the_counts_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    """How many values are reproduced and how many are not, so that a change is seen; printed in every run."""
    with capsys.disabled():
        print(f"\n{MEMORY.summary()}")
    assert MEMORY.counts() == {
        "params": {"reproduced": 53, "recalled": 2, "trap": 1},
        "state": {"reproduced": 17, "recalled": 5, "lacks inputs": 1, "convention": 2},
        "zero": {"reproduced": 49, "no exercise computes it": 4},
        "activation": {
            "reproduced": 7,
            "no exercise computes it": 6,
            "belongs to a later assignment": 1,
            "trap": 1,
        },
        "kv": {"reproduced": 10, "lacks inputs": 1, "trap": 1},
        "units": {"no exercise computes it": 7, "trap": 2},
    }


CARDS = {
    "hw.mem.A100-SXM4-80GB": "a100-sxm-80gb",
    "hw.mem.H800-80GB": "h800-sxm",
    "hw.mem.A100-40GB": "a100-sxm-40gb",
    "hw.mem.V100-SXM2-32GB": "v100-sxm-32gb",
}
"""Cards that the kit ships and whose total memory was read in a trace."""


@pytest.mark.parametrize(("value_id", "card"), CARDS.items())
def test_a_card_has_the_bytes_that_were_read_from_it(value_id: str, card: str) -> None:
    """The bytes in gpus.yaml are the published ones, and the published GiB follow from them."""
    value = published_value(value_id)
    assert gpu(card).memory_bytes == value.inputs["bytes"]
    assert value.accepts(gpu(card).memory_bytes / 2**30)


def test_an_h200_shows_a_program_a_little_less_than_the_driver_lists() -> None:
    """nvidia-smi lists 150.75 GB on an H200; a program sees less than that, by under one per cent."""
    listed = published_value("hw.mem.H200").expected * 1e9
    assert 0.99 * listed < gpu("h200-sxm").memory_bytes < listed


if __name__ == "__main__":
    print(MEMORY.summary())
