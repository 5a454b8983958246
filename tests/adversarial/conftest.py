"""Grades all cases once for the tests of this folder."""

from pathlib import Path

import pytest

from grader.sandbox import available
from tests.adversarial.case import load_cases
from tests.adversarial.grading import Graded, grade_cases


@pytest.fixture(scope="session")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Every variant's row, and what the cohorts left behind; fails loudly where no sandbox can start."""
    found = available()
    if not found.ok:
        pytest.fail(
            f"the attacks were NOT run: the sandbox cannot start: {found.reason}; {found.remedy}",
            pytrace=False,
        )
    root: Path = tmp_path_factory.mktemp("adversarial")
    return grade_cases(load_cases(), root)
