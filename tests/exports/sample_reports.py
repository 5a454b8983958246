"""A small class with everything in it that a format can get wrong; `python -m tests.exports.sample_reports` writes
the golden files anew, to be read before they are committed."""

import json
from pathlib import Path

from grader.exports.canvas import canvas
from grader.exports.classroom import classroom
from grader.exports.feedback import feedback_html, feedback_markdown
from grader.exports.github import annotations, summary
from grader.exports.gradescope import gradescope
from grader.exports.junit import junit
from grader.exports.prairielearn import prairielearn
from grader.exports.roster import Student, matched
from grader.exports.spreadsheet import spreadsheet
from grader.report import (
    CheckResult,
    Environment,
    Evidence,
    ExerciseResult,
    GradeReport,
    Outcome,
    SubmissionInfo,
    write_report,
)

GOLDEN = Path(__file__).parent / "golden"
TIMING = frozenset({"flash_attention.performance"})


def check(outcome: Outcome = Outcome.PASSED, number: int = 1, **more) -> CheckResult:
    given = {
        "name": f"test_claim_{number}[7B-{number}]",
        "claim": f"Claim {number} holds.",
        "duration_s": 0.25,
    }
    return CheckResult(outcome=outcome, **{**given, **more})


def exercise(
    name: str, points: float, most: float, *checks: CheckResult, outcome: Outcome = Outcome.PASSED, **more
) -> ExerciseResult:
    return ExerciseResult(
        id=name,
        title=f"Title of {name.split('.')[1]}",
        outcome=outcome,
        points=points,
        max_points=most,
        checks=checks,
        **more,
    )


def report(name: str, *exercises: ExerciseResult, **more) -> GradeReport:
    given = {
        "kind": "official",
        "submission": SubmissionInfo(id=name, sha256="ab"),
        "environment": Environment(isolation="sandbox", kit_version="0.1.0"),
        "duration_s": 12.5,
    }
    return GradeReport(**{**given, "exercises": exercises, **more})


def waiting() -> ExerciseResult:
    """An exercise that only a GPU decides."""
    one = check(Outcome.NEEDS_GPU, message="needs a GPU: this machine has none")
    return exercise("flash_attention.performance", 0, 15, one, outcome=Outcome.NEEDS_GPU, pending_points=15.0)


def good() -> GradeReport:
    return report(
        "ada",
        exercise("memory.count", 10, 10, check(), check(number=2, hidden=True)),
        exercise("memory.more", 5, 5, check(), extra_credit=True),
        exercise("flash_attention.flash", 20, 20, check()),
        waiting(),
    )


def mixed() -> GradeReport:
    wrong = check(
        Outcome.FAILED,
        message="Llama: attention: got 2,147,483,648 parameters, expected 1,342,177,280 parameters\n  and <more>",
        hint="Keys have kv_heads heads.",
        mistake="forgets_gqa",
        evidence=(Evidence(name="ratio", value=1.6),),
    )
    secret = check(
        Outcome.FAILED, 3, hidden=True, message="attention: too large, by half", mistake="forgets_gqa"
    )
    return report(
        'bö, "b" O\'Neil, Jr. 🦉',
        exercise("memory.count", 3.333333, 10, wrong, check(number=2), secret, outcome=Outcome.FAILED),
        exercise(
            "memory.more",
            0,
            5,
            check(Outcome.TODO),
            outcome=Outcome.TODO,
            extra_credit=True,
            todo="write more() | then rest",
        ),
        exercise(
            "flash_attention.flash",
            12.345678,
            20,
            check(),
            check(Outcome.NEEDS_TRITON, 2, message="needs Linux"),
            outcome=Outcome.NEEDS_TRITON,
            pending_points=5.0,
        ),
        waiting(),
    )


def broken() -> GradeReport:
    return report("carl", error="the grader ended early: \x1b[31mkilled")


def cohort() -> list[GradeReport]:
    return [good(), mixed(), broken()]


def roster() -> list[Student]:
    return [
        Student("Lovelace, Ada", "101", "s-101", "ada", "A"),
        Student("=cmd|' /C calc'!A1", "102", "s-102", 'bö, "b" O\'Neil, Jr. 🦉', "B; C"),
        Student("Points Possible", "103", "s-103", "dora", "A"),
    ]


def written(folder: Path, *reports: GradeReport) -> Path:
    """An `--out` folder of `grader grade` with these reports."""
    (folder / "summary.csv").parent.mkdir(parents=True, exist_ok=True)
    (folder / "summary.csv").write_text("submission,points\n")
    for each in reports:
        write_report(each, folder / each.submission.id / "report.json")
    return folder


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def exports() -> dict[str, str]:
    """Every golden file's name and what it must hold."""
    entries = matched(cohort(), roster())
    return {
        "gradescope.json": _json([gradescope(each) for each in cohort()]),
        "classroom.json": _json([classroom(each) for each in cohort()]),
        "prairielearn.json": _json([prairielearn(each, TIMING) for each in cohort()]),
        "canvas.csv": canvas(entries, TIMING),
        "canvas-no-roster.csv": canvas(matched(cohort(), None), TIMING),
        "table.csv": spreadsheet(entries),
        "junit.xml": junit(entries),
        "github-annotations.txt": annotations(entries, TIMING),
        "github-summary.md": summary(entries, TIMING),
        "feedback.html": feedback_html(mixed()),
        "feedback.md": feedback_markdown(mixed()),
    }


if __name__ == "__main__":
    for name, text in exports().items():
        (GOLDEN / name).write_text(text, encoding="utf-8", newline="")
