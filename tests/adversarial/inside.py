"""Grades one variant inside a container and prints what became of it: `python -m tests.adversarial.inside`.

It is root and builds the submission, which lets some attacks listen on the container's network. `grader grade` is a
command of its own: an ordinary user's at the level `process`, root's at `user`, where there are no user namespaces, as
in the containers that the level is meant for.
"""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests import user_namespaces
from tests.adversarial.case import load_cases
from tests.adversarial.container import CHECKOUT, GRADING

ORDINARY = 1000
_PARTS = ("specs", "kernels_ref", "grader", "solutions", "assignments", "pyproject.toml")
_LARGEST_REPORT_BYTES = 1 << 22
_TAIL_CHARACTERS = 2_000


def main(words: Sequence[str]) -> None:
    """`words`: level, case, variant, the submission's name, course's seed, seconds until it counts as hung."""
    level, case, variant_name, name, seed, longest_s = words
    (variants,) = (each.variants for each in load_cases() if each.name == case)
    (variant,) = (each for each in variants if each.name == variant_name)

    course = GRADING / "course"
    for folder in ("home", "tmp", "submissions"):
        (course / folder).mkdir(parents=True)
    course.chmod(0o700)
    # Not copytree: each of many gradings pays for it. Byte code comes along, times of change are kept.
    parts = [str(CHECKOUT / part) for part in _PARTS]
    (course / "kit").mkdir()
    subprocess.run(["cp", "-a", *parts, str(course / "kit")], check=True)
    (course / "seed").write_text(seed + "\n")
    (course / "home" / "notes").write_text("an instructor's own\n")
    os.environ["HOME"] = str(course / "home")
    built = course / "submissions" / name
    built.mkdir()
    submission = variant.build(built, course / "kit" / "solutions")

    user = 0 if level == "user" else ORDINARY
    subprocess.run(["chown", "-R", "-h", f"{user}:{user}", str(course)], check=True)
    command = [
        str(Path(sys.executable).parent / "grader"),
        "grade",
        str(submission),
        "--only",
        variant.exercise,
    ]
    command += ["--isolation", level, "--out", str(course / "out"), "--seed-file", str(course / "seed")]
    said = GRADING / "said"
    with said.open("wb") as stream:
        grader = subprocess.Popen(
            [*command, "--jobs", "1"],
            cwd=course / "kit",
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(course / "home"),
                "TMPDIR": str(course / "tmp"),
                "PYTHONPATH": str(course / "kit"),
                "LANG": "C.UTF-8",
                "COLUMNS": "160",
            },
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
            user=user,
            group=user,
            extra_groups=[],
            preexec_fn=user_namespaces.forbid_by_seccomp if level == "user" else None,
        )
        try:
            code: int | None = grader.wait(float(longest_s))
        except subprocess.TimeoutExpired:
            code = None
    report = course / "out" / submission.name.removesuffix(".zip") / "report.json"
    tail = said.read_text(encoding="utf-8", errors="replace")[-_TAIL_CHARACTERS:]
    print(json.dumps({"code": code, "report": _text_of(report), "said": tail}))
    sys.stdout.flush()
    os._exit(0)  # what the case listens with, and whatever is left, ends with the container


def _text_of(report: Path) -> str | None:
    """None where there is none; what lies there was written by a user who ran hostile code."""
    try:
        status = report.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_REPORT_BYTES:
            return None
        return report.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


if __name__ == "__main__":
    main(sys.argv[1:])
