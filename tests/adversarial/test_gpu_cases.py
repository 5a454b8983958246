"""On a GPU's clock no attack gains anything by it. Written without a GPU: here the files are only read."""

from pathlib import Path

import pytest

from grader.clock import nvml
from grader.kit import find_kit
from tests.adversarial.case import load_cases
from tests.adversarial.gpu import grade_on_a_gpu
from tests.adversarial.grading import id_of, problems

CASES = load_cases(Path(__file__).parent / "gpu_cases")
EACH = [pytest.param(case, variant, id=id_of(case, variant)) for case in CASES for variant in case.variants]


@pytest.mark.parametrize(("case", "variant"), EACH)
def test_hands_in_files_that_python_reads(tmp_path, case, variant):
    folder = variant.build(tmp_path, find_kit().solutions)
    for file in folder.rglob("*.py"):
        compile(file.read_text(encoding="utf-8"), str(file), "exec")


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory):
    """The row of every variant."""
    if nvml.find_card() is None:
        pytest.fail("no NVIDIA card here: these attacks were NOT run", pytrace=False)
    builds = {id_of(case, variant): variant.build for case in CASES for variant in case.variants}
    return grade_on_a_gpu(builds, tmp_path_factory.mktemp("gpu"))


@pytest.mark.gpu
@pytest.mark.parametrize(("case", "variant"), EACH)
def test_becomes_what_the_case_says(timed, case, variant):
    assert [each for each in problems(variant, timed[id_of(case, variant)]) if "pending" not in each] == []
