"""The published values of the profiling assignment follow from the reference solution's own functions.

`published_profiling.yaml` says how: which call gives which value, on which trace, and which value no call gives.
Run this file by itself to print the counts: `python tests/specs/test_published_profiling.py`.
"""

from pathlib import Path

import pytest
from published_walk import ExerciseCall, Reproduced, Walk

from specs.published import published_value
from specs.schema import read_yaml

MAPPING = Path(__file__).with_name("published_profiling.yaml")
PROFILING = Walk("profiling", ("trace",), MAPPING)


@pytest.mark.parametrize("entry", PROFILING.reproduced, ids=lambda entry: entry.id)
def test_the_solution_reproduces(entry: Reproduced) -> None:
    """The call gives the published value, within the value's own tolerance."""
    PROFILING.check_value(entry)


def test_every_exact_value_is_reproduced_or_excluded_and_never_both() -> None:
    """No exact value is unaccounted for, none is listed twice, and no value that is not exact is listed."""
    PROFILING.check_every_exact_value_is_listed_once()


def test_a_tool_that_looks_for_nccl_alone_calls_all_of_deepseeks_communication_compute() -> None:
    """With DeepEP's kernels classed as that tool classes them, the trap is what comes out; by their names it is not."""
    layout = next(each for each in read_yaml(MAPPING)["layouts"] if "m_grouped_fp8_ptp128c" in each)

    def compute_us(kinds: dict[str, str]) -> float:
        call = ExerciseCall(exercise="step_breakdown", arguments={"events": layout, "kinds": kinds})
        (step,) = call.result("profiling")
        return 1e6 * (step.matmul_s + step.attention_s + step.memory_bound_s)

    naive = {name: "memory_bound" for name in layout if "dpsk" in name}
    trap = published_value("trace.deepseek.compute")
    assert trap.use == "trap"
    assert trap.accepts(compute_us(naive))
    assert published_value("trace.deepseek.corrected.true_compute_union").accepts(compute_us({}))


def test_the_counts_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    """How many values are reproduced and how many are not, so that a change is seen; printed in every run."""
    with capsys.disabled():
        print(f"\n{PROFILING.summary()}")
    assert PROFILING.counts() == {"trace": {"reproduced": 16, "inferred": 2, "trap": 1, "lacks inputs": 1}}


if __name__ == "__main__":
    print(PROFILING.summary())
