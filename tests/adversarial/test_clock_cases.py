"""On the clock of a core no attack gains anything by it, and no honest submission loses."""

from pathlib import Path

import pytest

from grader.clock.grading import Plan
from grader.sandbox import available
from tests.adversarial import catalogue
from tests.adversarial.case import Case, Variant, load_cases
from tests.adversarial.clock import grade_on_a_core
from tests.adversarial.grading import id_of, problems

pytestmark = pytest.mark.clock

HERE = Path(__file__).parent
CASES = load_cases(HERE / "clock_cases")
EACH = [pytest.param(case, variant, id=id_of(case, variant)) for case in CASES for variant in case.variants]


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory):
    """The row of every variant."""
    if not available().ok:
        pytest.fail("the attacks were NOT run: the sandbox cannot start here", pytrace=False)
    builds = {id_of(case, variant): variant.build for case in CASES for variant in case.variants}
    return grade_on_a_core(builds, tmp_path_factory.mktemp("clock"), jobs=2)


@pytest.mark.parametrize(("case", "variant"), EACH)
def test_becomes_what_the_case_says(timed, case: Case, variant: Variant) -> None:
    row = timed[id_of(case, variant)]
    found = problems(variant, row)
    if not case.honest and _undecided(row):  # on a busy machine: pending, so the attack gained nothing
        found = [each for each in found if each.startswith("earned")]
    if (
        row.report.points <= Plan().score_width * row.report.max_points
    ):  # which is as sure as a share is known
        found = [each for each in found if not each.startswith("earned")]
    assert found == []


def test_every_attack_on_the_clock_of_the_list_has_a_file():
    named = {name for kind in catalogue.TIMED.values() for _, names in kind.values() for name in names}
    there = {path.stem for folder in ("clock_cases", "gpu_cases") for path in (HERE / folder).glob("*.py")}
    assert named <= there
    assert set(catalogue.TIMED["attack"]) == {28, 29, 30, 31, 32, 34}


def _undecided(row) -> bool:
    return {exercise.outcome.value for exercise in row.report.exercises} == {"inconclusive"}
