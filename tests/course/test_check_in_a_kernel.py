"""`check(...)` in a real kernel: what pytest says, as a table in the notebook, and kernels written in cells."""

import pytest

from grader.kit import find_kit
from grader.notebooks.source import notebook

pytestmark = pytest.mark.course
KIT = find_kit()


@pytest.fixture(scope="module")
def memory():
    return ran(
        "memory",
        "memory.parameter_count",
        {"memory-parameter_count": ("model.vocab * hidden", "model.vocab")},
        [
            "parameter_count(1 / 0)  # an experiment that raises\n",
            'check("memory.parameter_count")',
            'check("memory.parameter_cuont")',
            'check("memory.kv_cache_bytes")',
        ],
    )


def ran(name, exercise, changes, cells):
    """The outputs of `cells` behind the cells of one exercise's file, in one kernel."""
    import nbformat  # here, since tests that need no kernel are collected with these
    from nbclient import NotebookClient

    spec = KIT.available()[name]
    nb = nbformat.reads(
        notebook(KIT, spec, {each.id: each.points for each in spec.exercises}, "kit.zip"), as_version=4
    )
    function = spec.exercise(exercise.split(".")[1]).functions[0]
    stop = next(index for index, cell in enumerate(nb.cells) if f"def {function}(" in cell.source)
    nb.cells = [
        cell for cell in nb.cells[: stop + 1] if cell.cell_type == "code" and "check(" not in cell.source
    ]
    for cell in nb.cells:
        old, new = changes.get(cell.id, ("", ""))
        assert old in cell.source
        cell.source = cell.source.replace(old, new) if old else cell.source
    nb.cells += [nbformat.v4.new_code_cell(source) for source in cells]
    NotebookClient(nb, timeout=240, allow_errors=True, kernel_name="python3").execute()
    return [cell.outputs for cell in nb.cells[-len(cells) :]]


def shown(outputs, kind):
    (display,) = [each for each in outputs if each.output_type == "display_data"]
    return display.data[kind]


def test_a_failure_is_told_as_by_pytest_in_text_and_html(memory):
    text = shown(memory[1], "text/plain")
    assert "memory.parameter_count  failed" in text
    assert "GPT-2 small: token_embedding: got 50,257" in text
    html = shown(memory[1], "text/html")
    assert "GPT-2 small: token_embedding: got 50,257" in html
    assert "<script" not in html


def test_the_points_are_the_cell_s_value_so_that_nbgrader_validate_knows_them(memory):
    (value,) = [each for each in memory[1] if each.output_type == "execute_result"]
    assert value.data["text/plain"] == "0.0"


def test_a_wrong_name_and_a_function_that_is_not_there_are_one_line_each(memory):
    assert "did you mean memory.parameter_count?" in memory[2][0].text
    assert memory[3][0].text == "kv_cache_bytes: not defined yet, run the cell first\n"


def test_a_kernel_in_a_cell_is_interpreted():
    (outputs,) = ran(
        "flash_attention",
        "flash_attention.rms_norm_triton",
        {},
        ['check("flash_attention.rms_norm_triton")'],
    )
    assert "flash_attention.rms_norm_triton  passed" in shown(outputs, "text/plain")


def test_a_kernel_that_nbgrader_started_to_grade_with_gives_no_points(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    (outputs,) = ran("memory", "memory.shape_from_parameter_count", {}, ['check("memory.parameter_count")'])
    assert [each.output_type for each in outputs] == ["error"]
    assert "grader grade --gradebook" in outputs[0].evalue
