"""Generates an assignment's source notebook for nbgrader from the same `solutions/` files as the stubs.

The handout's sections in their order, each with the cells of its exercises: a solution cell a function, a grade cell an
exercise. What a grade cell runs lies in the kit, so that checks change without a new cell. The same source gives the
same bytes.
"""

import ast
import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from grader.kit import Kit
from grader.refusal import BadInput
from specs.assignment import Assignment, Exercise

SETUP_ID = "setup"
GRADE_PREFIX = "check-"
# pip leaves Colab's torch alone: the kit asks for none, and triton is the one that the interpreter is mended for.
_KERNELS_NEED = "ml_dtypes einops jaxtyping triton==3.7.1"

_FIGURE = re.compile(r"!\[([^\]]*)\]\((figures/[\w.-]+\.svg)\)")
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_FILES_AND_PYTEST = "## How to work"

HOW_TO_WORK = """## How to work

1. Read a section. Write the function in the cell below it, in place of `raise NotImplementedError`, and run the cell.
   The docstring says what goes in and what comes out.
2. Run the cell with `check(...)`: it names what is wrong, and by how much. After an edit, run your cell again first.
   Checks read every cell that you have run; plots and experiments in cells of your own do no harm.
3. Stuck? `!grader hint {example}` gives one hint, and a plainer one each time you ask.

The official grading calls the same functions with more cases. It does not run this notebook, and reads the cells from
top to bottom: before you hand in, restart the kernel and run all cells.
"""


@dataclass
class _File:
    """The cells of one solution file, and how many of them are in the notebook already."""

    name: str
    cells: list[Any]
    done: set[int] = field(default_factory=set)


def grade_id(exercise: str) -> str:
    """The id of an exercise's grade cell; never changes, or a gradebook loses its grades."""
    return f"{GRADE_PREFIX}{_id(exercise)}"


def exercise_of(name: str) -> str | None:
    """The exercise of a grade cell's id; None for another cell."""
    if not name.startswith(GRADE_PREFIX):
        return None
    return name.removeprefix(GRADE_PREFIX).replace("-", ".", 1)


def _id(name: str) -> str:
    """nbgrader has no dots in its ids."""
    return name.replace(".", "-")


def notebook(kit: Kit, spec: Assignment, points: Mapping[str, float], install: str) -> str:
    """The text of `source/<assignment>/<assignment>.ipynb`.

    Args:
        kit: with solutions.
        spec: of the assignment.
        points: of the exercises that are in it, by id without the assignment's name; extra credit included.
        install: what pip installs where the kit is missing: the students' bundle as a zip, a path or an address.

    Raises:
        BadInput: jupytext or nbformat, of the `instructor` extra, is not installed.
    """
    try:
        import jupytext
        import nbformat
    except ModuleNotFoundError as error:
        raise BadInput(f"notebooks are made with {error.name}: pip install -e '.[instructor]'") from None
    files = {
        file: _File(
            file,
            jupytext.reads((kit.solutions / spec.name / file).read_text("utf-8"), fmt="py:percent").cells,
        )
        for file in spec.files
    }
    handout = (kit.assignments / spec.name / "README.md").read_text(encoding="utf-8")
    cells = list(_cells(spec, points, files, _sections(handout), kit.assignments / spec.name, install))
    for index, cell in enumerate(cells):
        cell.id = cell.metadata.get("nbgrader", {}).get("grade_id", f"cell-{index}")[:64]
    whole = nbformat.v4.new_notebook(
        cells=cells,
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
    )
    whole.nbformat_minor = 5
    nbformat.validate(whole)
    return str(nbformat.writes(whole)) + "\n"


def _sections(handout: str) -> list[tuple[str, str]]:
    """Headings and texts of the handout; the first has the heading ''."""
    parts = _HEADING.split(handout)
    return [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]


def _cells(
    spec: Assignment,
    points: Mapping[str, float],
    files: Mapping[str, _File],
    sections: list[tuple[str, str]],
    folder: Path,
    install: str,
) -> Iterator[Any]:
    chosen = [exercise for exercise in spec.exercises if exercise.id in points]
    for heading, text in sections:
        if f"## {heading}" == _FILES_AND_PYTEST:
            yield _markdown(HOW_TO_WORK.format(example=f"{spec.name}.{chosen[0].id}"), folder)
            yield _setup(spec, install)
            continue
        yield _markdown(f"## {heading}\n\n{text.lstrip()}" if heading else text, folder)
        for exercise in (each for each in chosen if each.section == heading):
            yield from _exercise(spec, exercise, points[exercise.id], files)


def _exercise(
    spec: Assignment, exercise: Exercise, points: float, files: Mapping[str, _File]
) -> Iterator[Any]:
    file = files[exercise.file]
    elsewhere = {
        name for other in spec.exercises for name in other.functions if name not in exercise.functions
    }
    title = f"### {exercise.title}\n\n`{spec.name}.{exercise.id}`: {exercise.todo}. "
    extra = " extra" if exercise.extra_credit else ""
    yield _markdown(f"{title}{points:g} points{extra}, about {exercise.minutes} minutes.", None)
    for index, cell in enumerate(file.cells):
        if index in file.done or not _defines(cell) & set(exercise.functions):
            continue
        for earlier in range(index + 1):
            if earlier not in file.done and (
                earlier == index or not _defines(file.cells[earlier]) & elsewhere
            ):
                file.done.add(earlier)
                yield from _given(spec, file, earlier)
    yield _grade_cell(f"{spec.name}.{exercise.id}", 0.0 if exercise.extra_credit else points)


def _defines(cell: Any) -> set[str]:
    if cell.cell_type != "code":
        return set()
    return {
        node.name for node in ast.parse(cell.source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def _given(spec: Assignment, file: _File, index: int) -> Iterator[Any]:
    """One cell of a solution file, as the notebook has it."""
    import nbformat

    cell = file.cells[index]
    if cell.cell_type == "markdown":
        # The handout's headings are the notebook's; what introduces a file stands below them.
        yield _markdown(re.sub(r"^(#+) ", r"##\1 ", cell.source, flags=re.MULTILINE), None)
        return
    made = nbformat.v4.new_code_cell(_without_own_files(cell.source))
    made.pop("id", None)
    if "instructor" in cell.metadata.get("tags", ()):
        made.metadata["tags"] = ["instructor"]
    elif "nbgrader" in cell.metadata:
        own = dict(cell.metadata["nbgrader"])
        made.metadata["nbgrader"] = {**own, "grade_id": _id(own["grade_id"])}
    else:
        stem = file.name.removesuffix(".py")
        made.metadata["nbgrader"] = _metadata(f"{spec.name}-{stem}-given-{index}", locked=True)
    yield made


def _without_own_files(source: str) -> str:
    """A notebook has one namespace: `from .forward import flash_forward` has nothing to bring."""
    return re.sub(r"^from \.\w+ import .*\n?", "", source, flags=re.MULTILINE).rstrip("\n")


def _metadata(name: str, *, locked: bool = False, points: float | None = None) -> dict[str, object]:
    grade = {} if points is None else {"points": points}
    return {
        "grade": points is not None,
        "grade_id": name,
        "locked": locked,
        "schema_version": 3,
        "solution": False,
        "task": False,
        **grade,
    }


def _grade_cell(exercise: str, points: float) -> Any:
    import nbformat

    return nbformat.v4.new_code_cell(
        f'check("{exercise}")',
        metadata={"nbgrader": _metadata(grade_id(exercise), locked=True, points=points)},
    )


def _setup(spec: Assignment, install: str) -> Any:
    import nbformat

    kernels = any("triton" in exercise.needs for exercise in spec.exercises)
    wanted = " ".join(f"{install} {_KERNELS_NEED}".split() if kernels else [install])
    source = (
        'import importlib.util; importlib.util.find_spec("grader") or '
        f'get_ipython().run_line_magic("pip", "install -q {wanted}")\n'
        "from grader.notebooks import check"
    )
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": _metadata(SETUP_ID, locked=True)})


def _markdown(text: str, folder: Path | None) -> Any:
    """A cell with the figures of `folder` inside it: a notebook that is opened alone shows them too.

    As an address that holds its data: JupyterLab and Notebook 7 render no SVG that is a cell's attachment.
    """
    import nbformat

    def inside(found: re.Match[str]) -> str:
        if folder is None:
            return found[0]
        data = base64.b64encode((folder / found[2]).read_bytes()).decode("ascii")
        return f'<img alt="{escape(found[1])}" src="data:image/svg+xml;base64,{data}">'

    return nbformat.v4.new_markdown_cell(_FIGURE.sub(inside, text.strip()))
