"""Grades submissions against the clock of a core, in a copy of the kit that has `clock_kit` alone."""

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import grader
from grader.report import read_report
from grader.summary import Row, note_on
from tests.adversarial.case import Build, write

HERE = Path(__file__).parent / "clock_kit"
SOLUTION = (HERE / "solutions" / "clock_kit" / "attention.py").read_text(encoding="utf-8")
_SLOWLY = """

_fast_forward, _fast_backward = flash_forward, flash_backward


def slow(function, *args, **kwargs):
    for _ in range(@TIMES@):
        value = function(*args, **kwargs)
    return value


def flash_forward(*args, **kwargs):
    return slow(_fast_forward, *args, **kwargs)


def flash_backward(*args, **kwargs):
    return slow(_fast_backward, *args, **kwargs)
"""


def slowly(times: int) -> str:
    """Text behind a right solution: right still, and so many times as slow."""
    return _SLOWLY.replace("@TIMES@", str(times))


SLOW = SOLUTION + slowly(24)
"""Right, and so slow that it earns nothing for its speed."""
FAST = "clock_kit.fast"
_JUNK = shutil.ignore_patterns("__pycache__", "*.pyc")


def clock_kit(folder: Path) -> Path:
    """A kit in `folder` whose only assignment is `clock_kit`."""
    original = Path(grader.__file__).resolve().parent.parent
    for name in ("specs", "grader", "kernels_ref"):
        shutil.copytree(original / name, folder / name, ignore=_JUNK)
    for spec in (folder / "specs" / "assignments").glob("*.yaml"):
        spec.unlink()
    shutil.copy(original / "pyproject.toml", folder)
    shutil.copytree(HERE, folder, ignore=_JUNK, dirs_exist_ok=True)
    return folder


def attention(text: str, base: str = SLOW) -> Build:
    """A submission of right code, slow unless `base` says otherwise, with `text` behind it."""

    def build(folder: Path, solutions: Path) -> Path:
        return write(folder, {"clock_kit/attention.py": base + "\n\n" + textwrap.dedent(text)})

    return build


def grade_on_a_core(variants: Mapping[str, Build], folder: Path, jobs: int = 1) -> dict[str, Row]:
    """The rows of submissions, by name, each graded in `clock_kit.fast` alone.

    `folder` is an empty one, or one that the same function has used: then reports that are there count.
    """
    kit = folder / "kit"
    if not kit.exists():
        clock_kit(kit)
    paths = []
    for name, build in variants.items():
        (folder / "submissions" / name).mkdir(parents=True, exist_ok=True)
        paths.append(build(folder / "submissions" / name, kit / "solutions"))
    done = subprocess.run(
        [sys.executable, str(kit / "grade.py"), str(kit), str(folder / "out"), str(jobs), *map(str, paths)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(kit), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=kit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = {}
    for name in variants:
        report = read_report(folder / "out" / name / "report.json")
        rows[name] = Row(name, report, note_on(report))
    return rows
