"""Source notebooks are the solutions again: the same bytes each time, and a release that holds the students' stubs."""

import ast
import base64
import dataclasses
import json
import re
import shutil

import nbformat
import pytest

from grader.kit import find_kit
from grader.notebooks.checking import files_of
from grader.notebooks.modules import modules, read
from grader.notebooks.source import exercise_of, notebook
from grader.stubs import generate

pytestmark = pytest.mark.course

KIT = find_kit()
NAMES = tuple(KIT.available())


def source(name, kit=KIT, **points):
    spec = kit.available()[name]
    worth = {each.id: each.points for each in spec.exercises} | points
    return notebook(kit, spec, worth, "rooflab-students.zip")


def released(text):
    """What students get: instructors' cells gone, stubs in place of solutions."""
    from nbgrader.preprocessors import ClearSolutions

    nb = nbformat.reads(text, as_version=4)
    nb.cells = [cell for cell in nb.cells if "instructor" not in cell.metadata.get("tags", ())]
    clear = ClearSolutions(code_stub={"python": 'raise NotImplementedError("write me")'})
    return clear.preprocess(nb, {})[0]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_solutions_give_the_same_bytes(name):
    assert source(name) == source(name)


@pytest.mark.parametrize("name", NAMES)
def test_nbgrader_s_validator_takes_it_and_every_exercise_has_one_grade_cell(name):
    from nbgrader.nbgraderformat import MetadataValidator

    nb = nbformat.reads(source(name), as_version=4)
    MetadataValidator().validate_nb(nb)
    graded = [exercise_of(cell.id) for cell in nb.cells if exercise_of(cell.id)]
    assert sorted(graded) == sorted(f"{name}.{each.id}" for each in KIT.available()[name].exercises)
    assert [cell.source for cell in nb.cells if exercise_of(cell.id)] == [
        f'check("{each}")' for each in graded
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_function_of_the_stubs_is_in_the_release_word_for_word_and_no_solution(name):
    text = "\n\n\n".join(cell.source for cell in released(source(name)).cells if cell.cell_type == "code")
    assert "BEGIN SOLUTION" not in text
    for file in KIT.available()[name].files:
        stub = generate((KIT.solutions / name / file).read_text(encoding="utf-8"))
        for node in ast.parse(stub).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                assert ast.get_source_segment(stub, node) in text, f"{file}: {node.name}"


@pytest.mark.parametrize("name", NAMES)
def test_the_cells_of_a_source_notebook_are_the_solutions_again(name):
    cells = [
        cell.source for cell in nbformat.reads(source(name), as_version=4).cells if cell.cell_type == "code"
    ]
    files = files_of(KIT.available()[name])
    texts = modules(read(cells), files)
    assert set(texts) == {file for file, functions in files.items() if functions}
    for file, functions in files.items():
        defined = {
            node.name
            for node in ast.parse(texts[file]).body
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        assert set(functions) <= defined


def test_an_edit_of_a_solution_changes_its_own_cell_alone(tmp_path):
    solutions = tmp_path / "solutions"
    shutil.copytree(KIT.solutions, solutions)
    path = solutions / "memory" / "parameters.py"
    path.write_text(
        path.read_text(encoding="utf-8").replace("Every stored value of a", "Each stored value of a")
    )
    before = nbformat.reads(source("memory"), as_version=4).cells
    after = nbformat.reads(
        source("memory", dataclasses.replace(KIT, solutions=solutions)), as_version=4
    ).cells
    changed = [old.id for old, new in zip(before, after, strict=True) if old != new]
    assert changed == ["memory-parameter_count"]


def test_points_of_a_course_and_exercises_left_out_reach_the_grade_cells():
    spec = KIT.available()["memory"]
    nb = nbformat.reads(
        notebook(KIT, spec, {"parameter_count": 20.0, "memory_budget": 10.0}, "kit.zip"), as_version=4
    )
    worth = {exercise_of(cell.id): cell.metadata.nbgrader.points for cell in nb.cells if exercise_of(cell.id)}
    assert worth == {"memory.parameter_count": 20.0, "memory.memory_budget": 10.0}
    assert "kit.zip" in next(cell.source for cell in nb.cells if cell.id == "setup")


def test_figures_lie_inside_so_that_the_notebook_can_be_opened_alone():
    """In the text and not as attachments, of which JupyterLab shows no SVG."""
    data = json.loads(source("memory"))
    text = "".join("".join(cell["source"]) for cell in data["cells"])
    inside = re.findall(r'<img alt="[^"]{20,}" src="data:image/svg\+xml;base64,([^"]+)">', text)
    figures = sorted((KIT.assignments / "memory" / "figures").glob("*.svg"))
    assert sorted(map(base64.b64decode, inside)) == sorted(path.read_bytes() for path in figures)
    assert "](figures/" not in text
    assert not [cell for cell in data["cells"] if "attachments" in cell]


def test_setting_up_is_two_lines_that_ask_for_no_torch():
    cell = next(
        cell for cell in nbformat.reads(source("flash_attention"), as_version=4).cells if cell.id == "setup"
    )
    assert len(cell.source.splitlines()) == 2
    assert "torch" not in cell.source
    assert "triton==" in cell.source
