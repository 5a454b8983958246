"""Fifty notebooks of the memory assignment: graded by us in the sandbox, and by stock nbgrader with equivalent asserts.

Stock nbgrader starts a kernel a notebook and runs asserts in it: every call that our checks make of the reference
solution, visible and hidden, with the value that it returns. Both write the gradebook and the pages of feedback.
`checkpoint` is left out: its checks watch PyTorch, which no assert does. Prints a table for tests/benchmarks/README.md.
"""

import argparse
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import nbformat

from grader import plugin
from grader.calls.runner import LocalRunner
from grader.checks.verdicts import Judge
from grader.course.grading import seed_of
from grader.course.settings import read_course
from grader.kit import find_kit
from grader.notebooks.checking import files_of
from grader.notebooks.source import exercise_of
from grader.report import SubmissionInfo
from grader.session import Installed, run_quietly

NAME = "memory"
LEFT_OUT = "checkpoint"
BIN = Path(sys.executable).parent


def main() -> None:
    """Make two courses, hand in the same notebooks, grade both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notebooks", type=int, default=50)
    count = parser.parse_args().notebooks
    with tempfile.TemporaryDirectory(prefix="rooflab-bench-") as folder:
        ours, stock = Path(folder) / "ours", Path(folder) / "stock"
        make_ours(ours)
        cases = calls_of_all_checks(ours)
        make_stock(stock, ours, cases)
        for course in (ours, stock):
            run(course, "nbgrader", "generate_assignment", NAME)
            hand_in(course, count)
        stock_s = measured(stock, ("nbgrader", "autograde", NAME), ("nbgrader", "generate_feedback", NAME))
        ours_s = measured(ours, ("grader", "grade", "--gradebook", "."))
        calls = sum(len(each) for each in cases.values())
        print(f"{count} notebooks, {calls} calls each")
        for who, (wall_s, cpu_s) in (
            ("stock nbgrader, in a kernel", stock_s),
            ("grader grade --gradebook", ours_s),
        ):
            print(f"| {who} | {wall_s:.0f} s | {wall_s / count:.1f} s | {cpu_s / count:.1f} s |", flush=True)


def measured(folder: Path, *commands: tuple[str, ...]) -> tuple[float, float]:
    """Wall time, and processor time of all processes: on a busy machine only the second says anything."""
    before, began = os.times(), time.monotonic()
    for command in commands:
        run(folder, *command)
    after = os.times()
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - began, cpu_s


def run(folder: Path, *command: str) -> None:
    # As in an activated environment: nbgrader looks for alembic on the PATH when it makes its database.
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    ended = subprocess.run(
        [str(BIN / command[0]), *command[1:]], cwd=folder, capture_output=True, text=True, env=environment
    )
    if ended.returncode:
        sys.exit(f"{' '.join(command)}: exit code {ended.returncode}\n{ended.stderr[-2000:]}")


def make_ours(root: Path) -> None:
    root.mkdir()
    (root / "course.yaml").write_text(
        f"seed_file: seed\nassignments: {{{NAME}: {{leave_out: [{LEFT_OUT}]}}}}\n", encoding="utf-8"
    )
    run(root, "grader", "notebooks", ".")


def calls_of_all_checks(root: Path) -> dict[str, list[tuple[str, tuple, dict, object]]]:
    """Function, arguments and value of every call that the checks make of the solutions, by exercise."""
    course = read_course(root, find_kit())
    kit = replace(course.kit, only=(NAME,))
    judge = Judge(
        kit,
        LocalRunner(kit.solutions),
        SubmissionInfo(id="bench"),
        seed=seed_of(course),
        on_report=lambda report: None,
    )
    run_quietly(kit.root, [*kit.visible_tests(NAME), *kit.hidden_tests(NAME)], [Installed(judge), plugin])
    return {
        exercise: [(c.request.function, c.request.args, dict(c.request.kwargs), c.got) for c in calls]
        for exercise, calls in judge.submission.calls_by_exercise.items()
        if exercise != f"{NAME}.{LEFT_OUT}"
    }


def make_stock(root: Path, ours: Path, cases: dict[str, list[tuple[str, tuple, dict, object]]]) -> None:
    """The same notebook with asserts in its grade cells, and nbgrader as it comes."""
    source = root / "source" / NAME
    source.mkdir(parents=True)
    (source / "cases.pickle").write_bytes(pickle.dumps(cases))
    nb = nbformat.read(ours / "source" / NAME / f"{NAME}.ipynb", as_version=4)
    nb.cells = [cell for cell in nb.cells if cell.id != "setup"]
    for cell in nb.cells:
        exercise = exercise_of(cell.id)
        if exercise:
            cell.source = (
                "import pickle\n"
                f'for name, args, kwargs, value in pickle.load(open("cases.pickle", "rb"))[{exercise!r}]:\n'
                "    assert globals()[name](*args, **kwargs) == value"
            )
    nbformat.write(nb, source / f"{NAME}.ipynb")
    (root / "nbgrader_config.py").write_text(
        "c = get_config()\nc.ClearSolutions.code_stub = {'python': 'raise NotImplementedError'}\n"
    )


def hand_in(course: Path, count: int) -> None:
    """Notebooks that are right, each with one function of its own left undone: no two are the same."""
    functions = [name for names in files_of(find_kit().available()[NAME]).values() for name in names]
    source = course / "source" / NAME
    for index in range(count):
        nb = nbformat.read(source / f"{NAME}.ipynb", as_version=4)
        undone = functions[index % len(functions)]
        for cell in nb.cells:
            if cell.id == f"{NAME}-{undone}":
                cell.source += "\n    # left as it was"
        nb.cells.append(nbformat.v4.new_code_cell(f"NUMBER = {index}"))
        folder = course / "submitted" / f"student-{index:02}" / NAME
        folder.mkdir(parents=True)
        nbformat.write(nb, folder / f"{NAME}.ipynb")
        for extra in source.glob("*.pickle"):
            shutil.copy(extra, folder / extra.name)


if __name__ == "__main__":
    main()
