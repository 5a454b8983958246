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


def test_an_extension_for_nobody_is_named_with_the_nearest_id_and_refuses_nothing(root, capsys):
    at = "2026-10-08T23:59:00+00:00"
    extensions = ", ".join(f"{each}: {at}" for each in ("caroll", "ADA", "zoltan", "ben", "mia"))
    (root / "course.yaml").write_text(f"assignments: {{memory: {{extensions: {{{extensions}}}}}}}\n")
    (root / "ledger" / "memory" / "ben").mkdir(parents=True)
    for student in ("carol", "ada", "mia"):
        (root / "submitted" / student).mkdir(parents=True)
    with pytest.raises(BadInput, match="nothing to grade"):
        run(root, [], None)
    assert capsys.readouterr().err == (
        "course.yaml: assignments.memory.extensions: nobody here has the id "
        "caroll (did you mean carol?), ADA (did you mean ada?), zoltan\n"
    )


def test_before_anybody_is_known_extensions_are_taken_as_they_are(root, capsys):
    (root / "course.yaml").write_text(
        "assignments: {memory: {extensions: {ben: 2026-10-08T23:59:00+00:00}}}\n"
    )
    with pytest.raises(BadInput, match="nothing to grade"):
        run(root, [], None)
    assert capsys.readouterr().err == ""
