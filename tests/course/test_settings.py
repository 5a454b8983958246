"""course.yaml: everything has a default, and what is wrong is one line with the field."""

from datetime import UTC, datetime

import pytest

from grader.commands.notebooks import COURSE_YAML
from grader.course.settings import LatePolicy, read_course, utc
from grader.kit import find_kit
from specs.schema import SpecError

KIT = find_kit()


def course(tmp_path, text=""):
    if text:
        (tmp_path / "course.yaml").write_text(text, encoding="utf-8")
    return read_course(tmp_path, KIT)


def test_without_a_file_or_with_an_empty_one_everything_is_as_the_kit_has_it(tmp_path):
    assert course(tmp_path).names == tuple(KIT.available())
    found = course(tmp_path, "# nothing\n")
    assert found.points("memory") == {each.id: each.points for each in KIT.available()["memory"].exercises}
    assert found.settings.late.share(1e6) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("titel: x", "titel: no such field"),
        ("track: hard", "track: input should be 'core' or 'full', got 'hard'"),
        ("assignments: {memry: {}}", "assignments.memry: no such assignment, did you mean memory?"),
        (
            "assignments: {memory: {points: {parameter_cuont: 3}}}",
            "assignments.memory.points: no exercise 'parameter_cuont', did you mean parameter_count?",
        ),
        ("assignments: {memory: {points: {checkpoint: -3}}}", "-3 is no number of points"),
        ("assignments: {memory: {points: {checkpoint: .nan}}}", "nan is no number of points"),
        (
            "assignments: {memory: {due: 2026-10-01T23:59:00}}",
            "assignments.memory.due: 2026-10-01T23:59:00 has no time zone; write a date as 2026-11-22T23:59:00+01:00",
        ),
        ("assignments: {memory: {due: 20261122}}", "assignments.memory.due: 20261122 is no date; write"),
        (
            "assignments:\n  memory: {due: 2026-11-22, extensions: {ben: 22.11.2026, eve: }}\n"
            "  profiling: {due: '2026-11-22'}\n  roofline: {due: 2026-11-22T23:59:00Z}",
            "course.yaml: assignments.memory.due: 2026-11-22 has no time of day and no time zone; "
            "assignments.memory.extensions.ben: 22.11.2026 is no date; "
            "assignments.memory.extensions.eve: no date is given; "
            "assignments.profiling.due: 2026-11-22 has no time of day and no time zone; "
            "write a date as 2026-11-22T23:59:00+01:00, with its time of day and zone",
        ),
        ("late: {per_day: 10}", "late.per_day: input should be less than or equal to 1"),
        ("attempts: [best", "not valid YAML"),
        ("students_kit: a.zip; rm -rf /", "students_kit"),
        ("- 1", "the whole document"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_field(tmp_path, text, says):
    with pytest.raises(SpecError) as error:
        course(tmp_path, text)
    assert says in str(error.value)
    assert "course.yaml" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_core_track_and_what_is_left_out_are_not_in_the_points(tmp_path):
    found = course(tmp_path, "track: core\nassignments: {memory: {leave_out: [memory_budget]}}")
    assert "latent_parameter_counts" not in found.points("memory")
    assert "memory_budget" not in found.points("memory")
    assert found.names == ("memory",)


def test_a_day_begun_costs_a_day_and_grace_costs_nothing():
    late = LatePolicy(per_day=0.1, at_most=0.25, grace_minutes=15)
    assert [late.share(each) for each in (0, 900, 901, 86400, 86401, 1e9)] == [0, 0, 0.1, 0.1, 0.2, 0.25]
    assert late.rule == "10 % for each day begun, none within 15 min, 25 % at most"
    assert LatePolicy(per_day=0.125).rule == "12.5 % for each day begun"


def test_an_extension_is_a_student_s_own_date(tmp_path):
    found = course(
        tmp_path,
        "assignments: {memory: {due: 2026-10-01T12:00:00Z, extensions: {amara: 2026-10-02T12:00:00+02:00}}}",
    )
    at = datetime(2026, 10, 2, 12, tzinfo=UTC)
    assert found.late_s("memory", "ben", at) == 86400
    assert found.late_s("memory", "amara", at) == 7200
    assert found.late_s("memory", "amara", None) == 0


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-01 12:00:00 UTC",
        "2026-10-01T12:00:00Z",
        "2026-10-01 14:00:00 +0200",
        "2026-10-01T14:00:00+02:00",
    ],
)
def test_times_are_read_as_platforms_write_them(text):
    assert utc(text) == datetime(2026, 10, 1, 12, tzinfo=UTC)


def test_the_template_without_its_signs_of_comment_is_a_course_and_says_that_a_list_is_all_there_is(tmp_path):
    first, *lines = COURSE_YAML.splitlines()
    text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines if "solutions:" not in line)
    assert first.startswith("# ")
    assert course(tmp_path, text).names == ("memory", "roofline")
    assert "only those that are listed" in COURSE_YAML
