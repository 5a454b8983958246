"""Reports of both stages, and a `grader` whose `grade` only writes such reports: everything else of it is real.

What a submission is stands in its file `kind`: `right`, `wrong`, `refused`, or `lost`, whose card fails once.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from grader.report import (
    CheckResult,
    Environment,
    ExerciseResult,
    GradeReport,
    Outcome,
    SubmissionInfo,
    write_report,
)

TIMED = "flash_attention.performance"
SHELLCHECK = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
"""Of the environment or the system; None where it is not installed."""
NEEDED = ("flash_attention.efficiency", "flash_attention.flash_backward")


def exercise(name, outcome, points, most, message=""):
    return ExerciseResult(
        id=name,
        title=name,
        outcome=outcome,
        points=points,
        max_points=most,
        pending_points=most if outcome.pending else 0.0,
        checks=(CheckResult(name="test_it", claim="It holds.", outcome=outcome, message=message),),
    )


def graded(name="ada", right=True, timed=Outcome.NEEDS_GPU, **environment):
    """What the first stage finds."""
    needed = Outcome.PASSED if right else Outcome.FAILED
    given = {"isolation": "sandbox", "kit_version": "0", "kit_sha256": "k", "seed_id": "s", "platform": "CPU"}
    return GradeReport(
        kind="official",
        submission=SubmissionInfo(id=name, sha256="f"),
        environment=Environment(**{**given, **environment}),
        exercises=(
            *(exercise(each, needed, 10.0 * right, 10.0) for each in NEEDED),
            exercise(TIMED, timed, 0.0, 15.0, "needs a GPU"),
        ),
    )


def timed(name="ada", outcome=Outcome.PASSED, points=15.0, **environment):
    """What the second stage finds."""
    plain = graded(name, **{"platform": "GPU", "libraries": {"torch": "made up"}, **environment})
    message = "takes 0.99 to 1.01 times the baseline" if outcome is Outcome.PASSED else "the card is gone"
    done = exercise(TIMED, outcome, points, 15.0, message)
    return plain.model_copy(update={"exercises": (done,), "only": (TIMED,)})


def folder(where, *reports):
    """An `--out` folder of `grader grade` with these reports."""
    where.mkdir(parents=True, exist_ok=True)
    (where / "summary.csv").write_text("submission\n")
    for each in reports:
        write_report(each, where / each.submission.id / "report.json")
    return where


def submissions(where, **kinds):
    """A folder of submissions."""
    for name, kind in kinds.items():
        (where / name).mkdir(parents=True)
        (where / name / "kind").write_text(kind)
    return where


def fake_grader(where):
    """A program that is `grader` but for `grader grade`; what it was asked to grade is in `calls` beside it."""
    program = where / "grader"
    where.mkdir(parents=True, exist_ok=True)
    root = Path(__file__).resolve().parents[2]
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(root)!r})\n"
        "from tests.runners.staged import main\nmain()\n"
    )
    program.chmod(0o755)
    return program


def calls(where):
    """The `grade` commands that were given, as lists of words."""
    path = where / "calls"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main():
    """The program."""
    words = sys.argv[1:]
    if words[:1] != ["grade"]:
        from grader.cli import main as real

        real()
    here = Path(sys.argv[0]).resolve().parent
    with (here / "calls").open("a") as stream:
        stream.write(json.dumps(words) + "\n")
    paths = [Path(each) for each in words[1 : words.index("--out")]]
    only = "--only" in words
    code = 0
    found = []
    for path in paths:
        kind = (path / "kind").read_text()
        again = here / f"seen-{path.name}"
        if kind == "refused" or (kind == "lost" and only and not again.exists()):
            again.touch()
            code = 3
            continue
        found.append(timed(path.name) if only else graded(path.name, right=kind != "wrong"))
    folder(Path(words[words.index("--out") + 1]), *found)
    sys.stdout.flush()
    os._exit(code)
