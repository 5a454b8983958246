"""Who is worth GPU minutes, and what of two machines' reports goes into one."""

import csv
import sys

import pytest

from grader.cli import main
from grader.refusal import BadInput
from grader.report import Outcome, SubmissionInfo, read_report
from grader.runners.stages import combined, timed_exercises, why_not_timed, worth_timing
from tests.runners.staged import NEEDED, TIMED, folder, graded, submissions, timed


@pytest.fixture
def grader(monkeypatch, capfd):
    """Runs the command: exit code, stdout and stderr."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["grader", *map(str, words)])
        with pytest.raises(SystemExit) as exit_:
            main()
        out, err = capfd.readouterr()
        return exit_.value.code, out, err

    return run


def test_the_timed_exercise_of_the_course_waits_for_those_that_its_spec_names():
    assert timed_exercises() == {TIMED: NEEDED}


def test_a_right_kernel_whose_speed_is_pending_is_worth_gpu_minutes():
    assert worth_timing(graded()) == (TIMED,)
    assert why_not_timed(graded()) == ""
    assert worth_timing(graded(timed=Outcome.INCONCLUSIVE)) == (TIMED,)


@pytest.mark.parametrize(
    ("report", "why"),
    [
        (graded(right=False), "flash_attention.efficiency is not right (failed)"),
        (graded(timed=Outcome.PASSED), f"{TIMED} already has its time (passed)"),
        (graded(timed=Outcome.INTEGRITY), f"{TIMED} has nothing pending (integrity)"),
        (
            graded().model_copy(update={"error": "the judge ended early"}),
            "not graded: the judge ended early",
        ),
        (
            graded().model_copy(update={"exercises": graded().exercises[1:]}),
            "flash_attention.efficiency was not graded",
        ),
        (
            graded().model_copy(update={"exercises": graded().exercises[:2]}),
            "nothing to time in its report",
        ),
    ],
    ids=["wrong", "timed already", "tampered", "not graded", "a needed one not graded", "not asked for"],
)
def test_nobody_else_is(report, why):
    assert worth_timing(report) == ()
    assert why_not_timed(report) == why


def test_both_stages_make_one_report():
    whole = combined(graded(), timed())
    assert (whole.points, whole.pending_points) == (35, 0)
    assert [each.id for each in whole.exercises] == [*NEEDED, TIMED]
    assert whole.environment == graded().environment


def test_a_card_that_failed_leaves_the_points_pending_and_says_why():
    whole = combined(graded(), timed(outcome=Outcome.GRADER_ERROR, points=0.0))
    assert (whole.points, whole.pending_points) == (20, 15)
    assert "the card is gone" in whole.exercises[-1].checks[0].message


def test_the_second_stage_decides_nothing_that_the_first_one_decided():
    """Be it an exercise that needs no GPU, or a time that was measured before."""
    decided = graded(timed=Outcome.FAILED)
    assert combined(decided, timed()) == decided
    forged = timed().model_copy(update={"exercises": (*timed().exercises, *graded().exercises[:2])})
    first = graded(right=False)
    assert combined(first, forged).exercises[:2] == first.exercises[:2]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"kit_sha256": "other"}, "another kit_sha256"),
        ({"seed_id": "other"}, "another seed_id"),
        ({"isolation": "process"}, "another isolation"),
        ({"kit_version": "9"}, "another kit_version"),
    ],
)
def test_times_under_other_rules_are_refused(changed, words):
    with pytest.raises(BadInput, match=words):
        combined(graded(), timed(**changed))


def test_times_of_other_files_are_refused():
    other = timed()
    other = other.model_copy(update={"submission": other.submission.model_copy(update={"sha256": "g"})})
    with pytest.raises(BadInput, match="other files"):
        combined(graded(), other)


def test_plausible_prints_ids_or_paths_and_nothing_else(grader, tmp_path):
    grades = folder(tmp_path / "grades", graded("ada"), graded("bo b"), graded("carl", right=False))
    code, out, err = grader("plausible", grades)
    assert (code, out) == (0, "ada\nbo b\n")
    assert err.splitlines() == [
        "not worth timing: carl: flash_attention.efficiency is not right (failed)",
        "2 of 3 submissions are worth timing",
    ]
    there = submissions(tmp_path / "in", **{"ada": "", "bo b": "", "carl": "", "dora": ""})
    code, out, _ = grader("plausible", grades, "--submissions", there)
    assert out.splitlines() == [str(there / "ada"), str(there / "bo b")]


def test_plausible_knows_a_submission_by_its_id_and_not_by_its_folder_s_name(grader, tmp_path):
    grades = folder(tmp_path / "grades", graded("a_b"))
    there = submissions(tmp_path / "in", **{"a=b": ""})
    assert grader("plausible", grades, "--submissions", there)[1] == f"{there / 'a=b'}\n"


def test_combine_writes_reports_and_a_table(grader, tmp_path):
    first = folder(tmp_path / "first", graded("ada"), graded("bob"), graded("carl", right=False))
    second = folder(tmp_path / "second", timed("ada"))
    code, out, err = grader("combine", first, "--timed", second, "--out", tmp_path / "whole")
    assert code == 0
    assert "3 of 3 graded" in out
    assert "pending: bob: flash_attention.performance" in err
    assert read_report(tmp_path / "whole" / "ada" / "report.json").points == 35
    rows = {row["submission"]: row for row in csv.DictReader((tmp_path / "whole" / "summary.csv").open())}
    assert (rows["ada"]["points"], rows["ada"][TIMED]) == ("35", "15")
    assert (rows["bob"]["points"], rows["bob"][TIMED], rows["bob"]["provisional"]) == ("20", "", "yes")


def test_a_submission_whose_timing_broke_down_as_a_whole_keeps_its_first_report(grader, tmp_path):
    first = folder(tmp_path / "first", graded())
    broken = timed().model_copy(update={"error": "the judge was killed", "exercises": ()})
    second = folder(tmp_path / "second", broken)
    assert grader("combine", first, "--timed", second, "--out", tmp_path / "whole")[0] == 0
    assert read_report(tmp_path / "whole" / "ada" / "report.json").pending_points == 15


def test_who_is_refused_after_being_timed_stops_nobody_else(grader, tmp_path):
    refused = graded("bob").model_copy(
        update={
            "error": "bob.zip: not a readable zip",
            "exercises": (),
            "submission": SubmissionInfo(id="bob"),
        }
    )
    first = folder(tmp_path / "first", graded("ada"), refused)
    second = folder(tmp_path / "second", timed("ada"), timed("bob"))
    code, out, err = grader("combine", first, "--timed", second, "--out", tmp_path / "whole")
    assert (code, err) == (3, "not graded: bob: bob.zip: not a readable zip\n")
    assert out.startswith("1 of 2 graded")
    assert read_report(tmp_path / "whole" / "ada" / "report.json").points == 35


def test_a_grade_that_is_missing_is_told_by_the_exit_code(grader, tmp_path):
    first = folder(tmp_path / "first", graded(), graded("bob").model_copy(update={"error": "killed"}))
    assert grader("combine", first, "--out", tmp_path / "whole")[0] == 3


def test_the_slurm_script_is_written_where_it_can_be_started(grader, tmp_path):
    code, out, _ = grader("slurm")
    assert (code, out[:12]) == (0, "#!/usr/bin/e")
    assert grader("slurm", "--out", tmp_path / "rooflab.sh")[0] == 0
    assert (tmp_path / "rooflab.sh").read_text() == out
    assert (tmp_path / "rooflab.sh").stat().st_mode & 0o111


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("combine @/first --out @/first", "is one of the stages"),
        ("combine @/first --out @/file", "is a file"),
        ("combine @/none --out @/o", "no such file or folder"),
        ("combine @/first --timed @/strangers --out @/o", "zoe: was timed and not graded"),
        ("plausible @/first --submissions @/none", "no such folder"),
        ("plausible @/first --submissions @/empty", "ada is not there"),
        ("slurm --out @/file", "is there already"),
    ],
)
def test_is_refused_in_one_line(grader, tmp_path, words, said):
    folder(tmp_path / "first", graded())
    folder(tmp_path / "strangers", timed("zoe"))
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    code, out, err = grader(*words.replace("@", str(tmp_path)).split())
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert said in err
