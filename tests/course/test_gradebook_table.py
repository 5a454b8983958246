"""What `grader grade --gradebook` says of points: those that count, and where they are not the released notebook's."""

from types import SimpleNamespace

import pytest

from grader.course.gradebook import released_otherwise
from grader.course.settings import Course, Settings
from grader.kit import find_kit
from grader.notebooks.source import grade_id

KIT = find_kit()
REMEDY = ": run `grader notebooks .` and `nbgrader generate_assignment memory --force`"


def course(tmp_path, **of_memory) -> Course:
    return Course(tmp_path, Settings.model_validate({"assignments": {"memory": of_memory}}), KIT)


def book(points: dict[str, float]) -> SimpleNamespace:
    """A gradebook whose released notebook of memory has these points."""
    extra = {each.id for each in KIT.available()["memory"].exercises if each.extra_credit}
    cells = [
        SimpleNamespace(name=grade_id(f"memory.{each}"), max_score=0.0 if each in extra else worth)
        for each, worth in points.items()
    ]
    by_hand = SimpleNamespace(name="essay", max_score=7.0)
    return SimpleNamespace(find_notebook=lambda *_: SimpleNamespace(grade_cells=[*cells, by_hand]))


@pytest.mark.parametrize(
    ("now", "says"),
    [
        ({}, ""),
        (
            {"points": {"parameter_count": 20}},
            "memory: course.yaml gives 105 points, the notebook that was released 100",
        ),
        (
            {"leave_out": ["parameter_count"]},
            "memory: course.yaml gives 85 points, the notebook that was released 100",
        ),
        (
            {"points": {"parameter_count": 10, "kv_cache_bytes": 15}},
            "memory: course.yaml gives 10 points for memory.parameter_count, the notebook that was released 15",
        ),
    ],
)
def test_points_changed_after_the_release_are_two_maxima_and_one_line_says_so(tmp_path, now, says):
    released = book(course(tmp_path).points("memory"))
    said = released_otherwise(released, course(tmp_path, **now), "memory")
    assert said == (says + REMEDY if says else "")
