"""On the clock of a core no attack gains anything by it, and no honest submission loses."""

from pathlib import Path

import pytest

from grader.sandbox import available
from tests.adversarial.case import Case, Variant, load_cases
from tests.adversarial.clock import grade_on_a_core
from tests.adversarial.grading import id_of, problems

pytestmark = pytest.mark.attacks

CASES = load_cases(Path(__file__).parent / "clock_cases")
EACH = [pytest.param(case, variant, id=id_of(case, variant)) for case in CASES for variant in case.variants]


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory):
    """The row of every variant."""
    if not available().ok:
        pytest.fail("the attacks were NOT run: the sandbox cannot start here", pytrace=False)
    builds = {id_of(case, variant): variant.build for case in CASES for variant in case.variants}
    return grade_on_a_core(builds, tmp_path_factory.mktemp("clock"))


@pytest.mark.parametrize(("case", "variant"), EACH)
def test_becomes_what_the_case_says(timed, case: Case, variant: Variant) -> None:
    assert problems(variant, timed[id_of(case, variant)]) == []
