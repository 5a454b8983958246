"""A course of two assignments and eight students, taken from a new folder to exports by the README's commands."""

import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import grader

KIT = Path(grader.__file__).resolve().parent.parent
SAMPLES = KIT / "tests" / "submissions"

COURSE_YAML = """
title: A course of the tests
attempts: best
late: {per_day: 0.1, at_most: 0.5, grace_minutes: 15}
assignments:
  memory:
    due: 2026-10-01T23:59:00+00:00
    extensions: {ben: 2026-10-08T23:59:00+00:00}
    points: {parameter_count: 20}
    leave_out: [checkpoint]
  profiling:
"""

ROSTER = """Student,ID,SIS User ID,SIS Login ID,Section
"Okafor, Amara",1,u1,amara,A
Ben Ünal,2,u2,ben,A
"O'Neil, Jr., Chiara",3,u3,chiara,A
=Dmitri,4,u4,dmitri,A
Elif 🎓,5,u5,elif,B
Farid,6,u6,farid,B
Grace,7,u7,grace,B
Hiro,8,u8,hiro,B
Nobody,9,u9,nobody,B
"""

HOSTILE = """
import os, sqlite3, sys, types, pathlib
for path in ("gradebook.db", "../gradebook.db", "../../../gradebook.db"):
    try:
        sqlite3.connect(path).execute("UPDATE grade SET auto_score = 100")
    except Exception:
        pass
sys.modules["grader"] = types.ModuleType("grader")
FORGED = [os.environ.get("HOME"), list(pathlib.Path("/").glob("*/course*"))]


def state_bytes_per_parameter(recipe):
    return FORGED


def check(name):
    return 100.0
"""


@dataclass(frozen=True)
class Ran:
    """A command that ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Course:
    """The course's folder, and what its commands said."""

    root: Path
    said: dict[str, Ran]

    def run(self, *command: str) -> Ran:
        """Run `grader ...` or `nbgrader ...` in the course's folder."""
        return run(self.root, *command)


def run(folder: Path, *command: str) -> Ran:
    """Run a command of the environment of this Python."""
    programs = Path(sys.executable).parent
    program = programs / command[0]
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR", "LANG") if name in os.environ}
    # As in an activated environment: nbgrader looks for alembic on the PATH when it makes its database.
    kept["PATH"] = f"{programs}:{os.environ['PATH']}"
    ended = subprocess.run(
        [str(program), *command[1:]],
        cwd=folder,
        env={**kept, "COLUMNS": "160", "PYTHONPATH": str(KIT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    return Ran(ended.returncode, ended.stdout, ended.stderr)


def edited(notebook: Path, **sources: tuple[str, str]) -> bytes:
    """A notebook with text replaced in cells: `memory_parameter_count=(old, new)`."""
    import nbformat

    nb = nbformat.read(notebook, as_version=4)
    wanted = {name.replace("_", "-", 1): change for name, change in sources.items()}
    for cell in nb.cells:
        if cell.id in wanted:
            old, new = wanted[cell.id]
            assert old in cell.source
            cell.source = cell.source.replace(old, new)
    return nbformat.writes(nb).encode()


def with_cell(notebook: Path, source: str) -> bytes:
    """A notebook with one more cell at its end."""
    import nbformat

    nb = nbformat.read(notebook, as_version=4)
    nb.cells.append(nbformat.v4.new_code_cell(source))
    return nbformat.writes(nb).encode()


def archive(path: Path, files: dict[str, bytes], day: int) -> Path:
    """A zip whose entries were written at noon of a day of October 2026."""
    with zipfile.ZipFile(path, "w") as made:
        for name, content in files.items():
            made.writestr(zipfile.ZipInfo(name, (2026, 10, day, 12, 0, 0)), content)
    return path


@pytest.fixture(scope="session")
def course(tmp_path_factory) -> Course:
    """Created, released, collected twice, graded, resubmitted, graded again by nbgrader itself, with feedback."""
    folder = tmp_path_factory.mktemp("courses")
    root = folder / "course"
    said = {}
    assert run(folder, "grader", "notebooks", str(root)).code == 0
    (root / "course.yaml").write_text(COURSE_YAML, encoding="utf-8")
    said["notebooks"] = run(folder, "grader", "notebooks", str(root))
    for name in ("memory", "profiling"):
        said[f"generate {name}"] = run(root, "nbgrader", "generate_assignment", name)
    (root / "roster.csv").write_text(ROSTER, encoding="utf-8")
    right, released = root / "source/memory/memory.ipynb", root / "release/memory/memory.ipynb"
    wrong = edited(right, memory_parameter_count=("model.vocab * hidden", "model.vocab"))
    loop = "### BEGIN SOLUTION\n    while True: pass"
    elif_files = SAMPLES / "elif-mixes-up-heads" / "memory"
    first = {
        "amara/memory.ipynb": right.read_bytes(),
        "ben/my work (2).ipynb": wrong,
        "chiara/memory.ipynb": edited(right, memory_kv_cache_bytes=("### BEGIN SOLUTION", loop)),
        "dmitri/memory.ipynb": with_cell(right, HOSTILE),
        **{f"elif/{path.name}": path.read_bytes() for path in elif_files.glob("*.py")},
        "grace/memory.ipynb": wrong,
        "hiro/memory.ipynb": released.read_bytes(),
        "stranger/memory.ipynb": wrong,
    }
    collect = ("grader", "collect", "folder")
    options = ("--assignment", "memory", "--roster", "roster.csv")
    said["collect"] = run(root, *collect, str(archive(folder / "1.zip", first, 1)), ".", *options)
    late = {"farid/memory.ipynb": right.read_bytes(), "ben/memory.ipynb": wrong}
    run(root, *collect, str(archive(folder / "2.zip", late, 3)), ".", *options)
    profiling = {"amara/profiling.ipynb": (root / "source/profiling/profiling.ipynb").read_bytes()}
    run(
        root,
        *collect,
        str(archive(folder / "3.zip", profiling, 3)),
        ".",
        "--assignment",
        "profiling",
        "--roster",
        "roster.csv",
    )
    said["grade"] = run(root, "grader", "grade", "--gradebook", ".")
    again = {"grace/memory.ipynb": right.read_bytes()}
    said["again"] = run(root, *collect, str(archive(folder / "4.zip", again, 2)), ".", *options)
    said["autograde"] = run(root, "nbgrader", "autograde", "memory", "--student", "grace", "--force")
    said["feedback"] = run(root, "nbgrader", "generate_feedback", "memory", "--student", "grace", "--force")
    said["export"] = run(root, "nbgrader", "export")
    return Course(root, said)
