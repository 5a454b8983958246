"""`grader grade --gradebook` before it grades: what lies in submitted/, and for whom course.yaml has extensions."""

import pytest

from grader.commands.gradebook import run
from grader.refusal import BadInput


@pytest.fixture
def root(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    (tmp_path / "course.yaml").write_text("assignments: {memory: , profiling: }\n")
    return tmp_path


@pytest.mark.parametrize(
    ("folders", "state"),
    [
        ([], "missing"),
        (["."], "empty"),
        (["ada/roofline"], "without a submission of memory or profiling"),
    ],
)
def test_without_submissions_one_line_says_so_and_how_they_get_there(root, folders, state):
    for each in folders:
        (root / "submitted" / each).mkdir(parents=True)
    with pytest.raises(BadInput) as refused:
        run(root, [], None)
    said = str(refused.value)
    assert f"submitted: {state}, so there is nothing to grade; `grader collect` fills it" in said
    assert "\n" not in said
