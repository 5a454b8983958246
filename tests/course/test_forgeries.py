"""Five forgeries in a kernel: stock nbgrader gives them full marks or gives its hidden tests away, ours neither.

The same wrong answer and the same trick go through both, in one test each, so that the difference is measured. Stock
nbgrader is fresh from its default configuration.
"""

import json
from dataclasses import dataclass

import pytest

from tests.course.conftest import run

pytestmark = [pytest.mark.course, pytest.mark.slow]

EXERCISE = "memory.state_bytes_per_parameter"
HIDDEN = "assert state_bytes_per_parameter(21) == 42"


@dataclass(frozen=True)
class Forgery:
    """A cell that a student adds, and the wrong answer that it is to carry through."""

    cell: str
    answer: str = "def state_bytes_per_parameter(recipe):\n    return TRICK"


FORGERIES = {
    "a transformer strips asserts": Forgery(
        """
import ast


class Strip(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)


TRICK = get_ipython().ast_transformers.append(Strip())
"""
    ),
    "a fake module checks": Forgery(
        """
import sys
import types

fake = types.ModuleType("verdicts")
fake.verify = fake.check = lambda *args: None
sys.modules["verdicts"] = sys.modules["grader"] = sys.modules["grader.notebooks"] = fake
TRICK = fake.verify(1)
"""
    ),
    "an answer equals everything": Forgery(
        """
class Anything(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


TRICK = Anything(0)
"""
    ),
    "the gradebook is written to": Forgery(
        """
import glob
import sqlite3

TRICK = []
for path in glob.glob("../../../gradebook.db"):
    TRICK.append(sqlite3.connect(path))
    TRICK[-1].execute("UPDATE grade SET manual_score = 10 WHERE auto_score IS NULL")
    TRICK[-1].commit()
"""
    ),
    "hidden tests are printed": Forgery(
        """
import glob
import pathlib
import sys

TRICK = [print(pathlib.Path(path).read_text()) for path in glob.glob("*.ipynb")]
TRICK += [print(pathlib.Path(path).read_text()) for top in sys.path for path in glob.glob(top + "/*/*/hidden/*")]
"""
    ),
}

RIGHT = """
def state_bytes_per_parameter(told):
    if isinstance(told, int):
        return 2 * told
    from specs import DTYPE_BYTES, StateBytes

    def size(name):
        return DTYPE_BYTES[name] if name else 0

    return StateBytes(
        weights=size(told.weights),
        gradients=size(told.gradients) + size(told.gradient_accumulation),
        master=size(told.master),
        moments=sum(map(size, told.moments)),
    )
"""
CONTROLS = {"no trick": Forgery("TRICK = 0"), "right": Forgery("", RIGHT)}


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    """A course as nbgrader's documentation makes one: asserts, hidden ones too, executed in the student's kernel."""
    import nbformat

    root = tmp_path_factory.mktemp("stock")
    source = root / "source" / "memory"
    source.mkdir(parents=True)
    (source / "verdicts.py").write_text("def verify(value, right):\n    assert value == right\n")
    cells = [
        code(
            "def state_bytes_per_parameter(n):\n    ### BEGIN SOLUTION\n    return 2 * n\n    ### END SOLUTION",
            "answer",
            solution=True,
        ),
        code(
            "assert state_bytes_per_parameter(2) == 4\n"
            f"### BEGIN HIDDEN TESTS\n{HIDDEN}\n### END HIDDEN TESTS",
            "checks",
            points=10,
        ),
        code("from verdicts import verify\nverify(state_bytes_per_parameter(2), 4)", "module", points=10),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), source / "memory.ipynb")
    (root / "nbgrader_config.py").write_text("c = get_config()\n")
    said = run(root, "nbgrader", "generate_assignment", "memory")
    assert said.code == 0, said.err
    hand_in(root, "answer")
    said = run(root, "nbgrader", "autograde", "memory")
    assert said.code == 0, said.err
    run(root, "nbgrader", "generate_feedback", "memory")
    return root


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """The course that the README makes, with this one exercise."""
    from grader.kit import find_kit

    root = tmp_path_factory.mktemp("ours")
    others = [
        each.id for each in find_kit().available()["memory"].exercises if f"memory.{each.id}" != EXERCISE
    ]
    (root / "course.yaml").write_text(f"assignments: {{memory: {{leave_out: {json.dumps(others)}}}}}\n")
    assert run(root, "grader", "notebooks", ".").code == 0
    said = run(root, "nbgrader", "generate_assignment", "memory")
    assert said.code == 0, said.err
    hand_in(root, "memory-state_bytes_per_parameter")
    said = run(root, "nbgrader", "autograde", "memory")
    assert said.code == 0, said.err
    run(root, "nbgrader", "generate_feedback", "memory")
    return root


def code(source, name, *, solution=False, points=None):
    import nbformat

    metadata = {
        "grade": points is not None,
        "grade_id": name,
        "locked": points is not None,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    } | ({} if points is None else {"points": points})
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": metadata})


def student(name):
    """A folder's name for a forgery; one that has no trick is there too."""
    return name.replace(" ", "-")


def hand_in(root, answer_cell):
    import nbformat

    for name, forgery in {**FORGERIES, **CONTROLS}.items():
        nb = nbformat.read(root / "release/memory/memory.ipynb", as_version=4)
        at = next(
            index
            for index, cell in enumerate(nb.cells)
            if cell.metadata.get("nbgrader", {}).get("grade_id") == answer_cell
        )
        nb.cells[at].source = forgery.answer
        nb.cells.insert(at, nbformat.v4.new_code_cell(forgery.cell))
        folder = root / "submitted" / student(name) / "memory"
        folder.mkdir(parents=True)
        nbformat.write(nb, folder / "memory.ipynb")


def score(root, name):
    """Of the cell that the forgery is about: a fake module does nothing against asserts in the cell itself."""
    from nbgrader.api import Gradebook

    cell = "module" if "module" in name else "checks"
    if (root / "course.yaml").is_file():
        cell = "check-memory-state_bytes_per_parameter"
    with Gradebook(f"sqlite:///{root}/gradebook.db") as book:
        grade = book.find_grade(cell, "memory", "memory", student(name))
        assert grade.auto_score is not None, f"{name} was not graded"
        return grade.score


def page(root, name):
    return (root / "feedback" / student(name) / "memory" / "memory.html").read_text(encoding="utf-8")


def test_a_wrong_answer_without_a_trick_earns_nothing_in_either(stock, ours):
    assert (score(stock, "no trick"), score(ours, "no trick")) == (0, 0)


def test_a_right_answer_earns_full_marks_in_both(stock, ours):
    assert (score(stock, "right"), score(ours, "right")) == (10, 10)


@pytest.mark.parametrize("name", [name for name in FORGERIES if name != "hidden tests are printed"])
def test_a_forgery_gets_full_marks_in_stock_nbgrader_and_nothing_here(stock, ours, name):
    assert (score(stock, name), score(ours, name)) == (10, 0)


def test_hidden_tests_are_printed_into_stock_feedback_and_not_into_ours(stock, ours):
    name = "hidden tests are printed"
    assert "state_bytes_per_parameter(21) == 42" in page(stock, name).replace("\\n", "\n")
    hidden = [line for line in hidden_lines() if line in page(ours, name)]
    assert hidden == []
    assert score(ours, name) == 0


def hidden_lines():
    """Lines of the hidden tests that tell something."""
    from grader.kit import find_kit

    texts = [path.read_text(encoding="utf-8") for path in find_kit().hidden_tests("memory")]
    return {
        line.strip()
        for text in texts
        for line in text.splitlines()
        if len(line.strip()) > 40 and "def " in line
    }
