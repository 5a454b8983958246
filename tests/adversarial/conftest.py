"""Grades all cases that are asked for once, for the tests of this folder."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.sandbox import available
from tests.adversarial.case import load_cases
from tests.adversarial.grading import Graded, grade_cases


@pytest.fixture(scope="session")
def graded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """The row of every variant, slow ones where their tests are selected, and what the cohorts left behind.

    Fails loudly where no sandbox can start.
    """
    found = available()
    if not found.ok:
        pytest.fail(
            f"the attacks were NOT run: the sandbox cannot start: {found.reason}; {found.remedy}",
            pytrace=False,
        )
    root: Path = tmp_path_factory.mktemp("adversarial")
    asking = [item for item in request.session.items if "graded" in getattr(item, "fixturenames", ())]
    speeds = {item.get_closest_marker("slow") is not None for item in asking}
    cases = [
        replace(case, variants=tuple(variant for variant in case.variants if variant.slow in speeds))
        for case in load_cases()
    ]
    return grade_cases(cases, root)
