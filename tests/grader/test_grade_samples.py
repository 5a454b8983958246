"""`grader grade` on the sample submissions: the right points each, reports, summary, table; and once more."""

import csv
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from grader.report import ExerciseResult, GradeReport, Outcome, read_report
from specs.assignment import assignments
from tests.grader.grade_command import SAMPLES, Course, Ended, make_course, reports, samples

EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((SAMPLES / "expected.yaml").read_text(encoding="utf-8"))
NAMES = sorted(EXPECTED)
ASSIGNMENTS = list(assignments().values())
HANDED_IN = ("memory", "roofline")  # no sample has more
EXERCISES = {f"{each.name}.{exercise.id}": exercise for each in ASSIGNMENTS for exercise in each.exercises}
# What a visible check says ("got 14 bytes, expected 16 bytes"), and whole numbers as large as hidden inputs.
# Ratios ("0.01562 × the right value") and line numbers may be there, and so may "it should be 0".
TELLING = re.compile(r"\b(got|expected) [-+\d.\[{(]|(?<![\d.])\d{5,}|\d,\d{3}")


def hands_in(name: str) -> set[str]:
    """The assignments of which a sample has files."""
    folder = SAMPLES / name
    return {path.name for path in folder.iterdir()} if folder.is_dir() else {"memory"}


@dataclass(frozen=True)
class Cohort:
    """All samples, graded once."""

    course: Course
    submissions: list[Path]
    out: Path
    ended: Ended

    def report(self, name: str) -> GradeReport:
        return read_report(self.out / name / "report.json")

    def exercise(self, name: str, exercise: str) -> ExerciseResult:
        return next(each for each in self.report(name).exercises if each.id == exercise)


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    folder = tmp_path_factory.mktemp("samples")
    course = make_course(folder)
    shutil.copytree(SAMPLES, folder / "submissions")
    submissions = samples(folder / "submissions")
    out = folder / "out"
    return Cohort(course, submissions, out, course.grade(out, submissions))


@pytest.fixture
def again(cohort: Cohort, tmp_path: Path) -> Cohort:
    """The graded cohort once more, for a test that changes something: nothing is graded anew for the copy."""
    shutil.copytree(cohort.out, tmp_path / "out")
    shutil.copytree(cohort.submissions[0].parent, tmp_path / "submissions")
    return Cohort(cohort.course, samples(tmp_path / "submissions"), tmp_path / "out", cohort.ended)


def expected_points(name: str) -> dict[str, float]:
    """Points by full id of the exercise; none for what nobody has handed in."""
    return dict.fromkeys(EXERCISES, 0.0) | {
        f"{prefix}.{exercise}": points
        for prefix, exercises in EXPECTED[name]["points"].items()
        for exercise, points in exercises.items()
    }


def earned(name: str, prefix: str = "", *, extra: bool) -> float:
    """What a sample gets in all, or in one assignment, extra credit apart."""
    return sum(
        points
        for exercise, points in expected_points(name).items()
        if exercise.startswith(prefix) and EXERCISES[exercise].extra_credit is extra
    )


def shown(points: float) -> str:
    """Points as the table has them: two places at most."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def test_every_sample_is_expected_to_get_something_for_every_exercise() -> None:
    assert {path.name.removesuffix(".zip") for path in samples()} == set(NAMES)
    for name in NAMES:
        assert tuple(EXPECTED[name]["points"]) == HANDED_IN
        for each in ASSIGNMENTS[: len(HANDED_IN)]:
            assert list(EXPECTED[name]["points"][each.name]) == [one.id for one in each.exercises]


def test_all_are_graded_and_nobody_is_alarmed(cohort: Cohort) -> None:
    assert (cohort.ended.code, cohort.ended.stderr) == (0, "")
    assert sorted(reports(cohort.out)) == NAMES
    assert sorted(path.name for path in cohort.out.iterdir()) == sorted([".lock", "summary.csv", *NAMES])


@pytest.mark.parametrize("name", NAMES)
def test_gets_the_right_points(cohort: Cohort, name: str) -> None:
    report = cohort.report(name)
    got = {each.id: each.points for each in report.exercises}
    assert got == pytest.approx(expected_points(name), abs=1e-5)
    assert (report.error, report.pending_points) == ("", 0)
    assert report.max_points == sum(each.points for each in ASSIGNMENTS)


@pytest.mark.parametrize("name", NAMES)
def test_gets_the_right_outcomes(cohort: Cohort, name: str) -> None:
    points, named = expected_points(name), EXPECTED[name].get("outcomes", {})
    assert set(named) <= set(EXERCISES)
    for exercise, spec in EXERCISES.items():
        got = cohort.exercise(name, exercise)
        if exercise in named:
            assert got.outcome == named[exercise], exercise
        elif points[exercise] == spec.points:
            assert got.outcome is Outcome.PASSED, exercise
        else:
            assert got.outcome in (Outcome.FAILED, Outcome.TODO), exercise


@pytest.mark.parametrize("name", [name for name in NAMES if "roofline" not in hands_in(name)])
def test_an_assignment_that_was_not_handed_in_is_todo_throughout(cohort: Cohort, name: str) -> None:
    report = cohort.report(name)
    assert {f"roofline/{file}" for file in ASSIGNMENTS[1].files} <= set(report.submission.missing)
    for each in report.exercises:
        if each.id.startswith("roofline."):
            assert (each.outcome, each.points) == (Outcome.TODO, 0), each.id
            assert all(check.message.endswith("was not handed in") for check in each.checks), each.id


@pytest.mark.parametrize("name", [name for name in NAMES if "says" in EXPECTED[name]])
def test_says_what_happened(cohort: Cohort, name: str) -> None:
    for exercise, text in EXPECTED[name]["says"].items():
        messages = [check.message for check in cohort.exercise(name, exercise).checks]
        assert any(text in message for message in messages), messages


@pytest.mark.parametrize("name", [name for name in NAMES if "mistakes" in EXPECTED[name]])
def test_the_hints_name_the_mistakes_made_and_no_others(cohort: Cohort, name: str) -> None:
    checks = [check for exercise in cohort.report(name).exercises for check in exercise.checks]
    assert {check.mistake for check in checks if check.hint} == set(EXPECTED[name]["mistakes"])
    assert all(check.mistake for check in checks if check.hint)


@pytest.mark.parametrize("name", NAMES)
def test_hidden_checks_give_no_value_away(cohort: Cohort, name: str) -> None:
    hidden = [
        check for exercise in cohort.report(name).exercises for check in exercise.checks if check.hidden
    ]
    assert {check.name for check in hidden} >= {"test_any_recipe", "test_any_dense_model", "test_any_bill"}
    assert {check.name for check in hidden} >= {"test_any_roof", "test_any_chain", "test_any_training_step"}
    for check in hidden:
        assert not TELLING.search(check.message), check.message
    visible = [check.message for exercise in cohort.report(name).exercises for check in exercise.checks]
    if "mistakes" in EXPECTED[name]:
        assert any(TELLING.search(message) for message in visible), "the pattern finds no value anywhere"


def test_the_zip_and_the_windows_folder_are_taken_apart_rightly(cohort: Cohort) -> None:
    zipped = cohort.report("kavya-zipped-part").submission
    assert zipped.files == ("memory/activations.py", "memory/parameters.py", "memory/state.py")
    assert [file for file in zipped.missing if file.startswith("memory/")] == [
        "memory/budget.py",
        "memory/checkpoint.py",
    ]
    windows = cohort.report("lukas-windows-and-modules").submission
    assert {"memory/formats.py", "memory/parts/__init__.py", "memory/parts/counting.py"} < set(windows.files)
    assert [note.split(":")[0] for note in windows.notes] == ["memory/conftest.py", "memory/test_mine.py"]
    assert [file for file in windows.files if file.startswith("roofline/")] == ["roofline/costs.py"]
    for file in ("memory/state.py", "roofline/costs.py"):
        written = (SAMPLES / "lukas-windows-and-modules" / file).read_bytes()
        assert written.startswith(b"\xef\xbb\xbf")
        assert written.count(b"\n") == written.count(b"\r\n") > 0
        assert b"\n\t" in written


def test_the_table_has_a_line_for_each(cohort: Cohort) -> None:
    lines = {line.split()[0]: line.split()[1:] for line in cohort.ended.stdout.splitlines() if line.strip()}
    names = [each.name for each in ASSIGNMENTS]
    assert lines["submission"] == [*names, "extra", "pending", "note"]
    for name in NAMES:
        assert lines[name] == [
            *(
                word
                for each in ASSIGNMENTS
                for word in (shown(earned(name, f"{each.name}.", extra=False)), "/", f"{each.points:g}")
            ),
            *(f"{earned(name, extra=True):g}", "0"),
            *EXPECTED[name].get("note", "").split(),
        ]
    assert f"{len(NAMES)} of {len(NAMES)} graded; isolation: sandbox" in cohort.ended.stdout


def test_the_summary_has_a_column_for_each_exercise(cohort: Cohort) -> None:
    with (cohort.out / "summary.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    totals = ["submission", "points", "max_points", "extra_points", "pending_points", "provisional"]
    assert list(rows[0]) == [*totals, *EXERCISES, "isolation", "note"]
    assert sorted(row["submission"] for row in rows) == NAMES
    for row in rows:
        assert float(row["points"]) == pytest.approx(earned(row["submission"], extra=False), abs=1e-3)
        assert float(row["extra_points"]) == pytest.approx(earned(row["submission"], extra=True), abs=1e-3)
        got = {exercise: float(row[exercise]) for exercise in EXERCISES}
        assert got == pytest.approx(expected_points(row["submission"]), abs=1e-3)
        most = f"{sum(each.points for each in ASSIGNMENTS):g}"
        assert (row["max_points"], row["pending_points"], row["provisional"]) == (most, "0", "no")
        assert (row["isolation"], row["note"]) == ("sandbox", EXPECTED[row["submission"]].get("note", ""))


def test_a_second_run_grades_nothing_and_says_the_same(again: Cohort) -> None:
    before, summary = reports(again.out), (again.out / "summary.csv").read_bytes()
    second = again.course.grade(again.out, again.submissions)
    assert (second.code, second.stderr) == (0, "")
    assert f"({len(NAMES)} unchanged since the last time)" in second.stdout
    assert reports(again.out) == before
    assert (again.out / "summary.csv").read_bytes() == summary
    table = again.ended.stdout.split("\n\n")[0]
    assert second.stdout.split("\n\n")[0] == table


def test_a_changed_file_has_only_its_submission_graded_again(again: Cohort) -> None:
    before = reports(again.out)
    changed = again.submissions[0].parent / "lena-syntax-error/memory/parameters.py"
    changed.write_text(changed.read_text().replace("if m.head_bias\n", "if m.head_bias:\n"))
    second = again.course.grade(again.out, again.submissions)
    assert second.code == 0
    assert f"({len(NAMES) - 1} unchanged since the last time)" in second.stdout
    after = reports(again.out)
    assert [name for name in NAMES if after[name] != before[name]] == ["lena-syntax-error"]
    assert again.exercise("lena-syntax-error", "memory.parameter_count").points == 15


def test_an_exercise_alone_is_skipped_where_a_whole_grade_is_there(again: Cohort) -> None:
    before = reports(again.out)
    second = again.course.grade(again.out, again.submissions[:3], "--only", "memory.kv_cache_bytes")
    assert second.code == 0
    assert "(3 unchanged since the last time)" in second.stdout
    assert reports(again.out) == before
    with (again.out / "summary.csv").open(encoding="utf-8", newline="") as stream:
        assert sorted(row["submission"] for row in csv.DictReader(stream)) == NAMES


def test_exercises_graded_one_by_one_add_up_and_the_ungraded_stay_blank(
    cohort: Cohort, tmp_path: Path
) -> None:
    half_done = SAMPLES / "chiara-half-done"
    broken = tmp_path / "mara-cut-off.zip"
    broken.write_bytes((SAMPLES / "kavya-zipped-part.zip").read_bytes()[:900])
    out = tmp_path / "out"
    first = cohort.course.grade(out, [half_done, broken], "--only", "memory.bf16_update_lost")
    assert first.code == 3
    assert re.fullmatch(r"not graded: .*mara-cut-off\.zip: .*\n", first.stderr)
    with (out / "summary.csv").open(encoding="utf-8", newline="") as stream:
        graded, ungraded = csv.DictReader(stream)
    assert (graded["submission"], graded["memory.bf16_update_lost"], graded["max_points"]) == (
        "chiara-half-done",
        "5",
        "5",
    )
    assert {value for key, value in ungraded.items() if key not in ("submission", "note")} == {""}
    assert ungraded["submission"] == "mara-cut-off"

    second = cohort.course.grade(out, [half_done], "--only", "memory.kv_cache_bytes")
    assert second.code == 0
    report = read_report(out / "chiara-half-done/report.json")
    assert {each.id: each.points for each in report.exercises} == {
        "memory.bf16_update_lost": 5,
        "memory.kv_cache_bytes": 0,
    }
    whole = {each.id: each for each in cohort.report("chiara-half-done").exercises}
    for part in report.exercises:
        assert [check.name for check in part.checks] == [check.name for check in whole[part.id].checks]
