"""A notebook that stalls or ends what reads it costs its own student alone, and is named."""

import json

import pytest

from grader.course import grading
from grader.course.grading import Item, grade_items
from grader.course.ledger import gradings
from grader.course.settings import read_course
from grader.kit import find_kit
from grader.notebooks.apart import NotebookUnread, files_of_notebook
from grader.notebooks.modules import Broken, statements

FILES = {"parameters.py": ["count"]}
COUNT = "def count(n):\n    return a0"
# Just small enough for their magics, each: IPython takes a second or so for one.
SLOW = ["%time x\n" * 20 + f"y{index} = 1\n" * 3000 for index in range(10, 50)]


def notebook(*cells: str) -> bytes:
    code = [{"cell_type": "code", "metadata": {}, "source": cell} for cell in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": code}).encode()


@pytest.mark.parametrize(
    "cell",
    [
        "?\n" * 6000,
        "x=1\n" * 10_000,
        "x=1;" * 10_000,
        "\n".join(f"a{index}=a{index - 1}" for index in range(4000, 0, -1)) + "\na0 = a4000",
        "%time x\n" * 20 + "y = 1\n" * 10_000,
    ],
    ids=["question marks", "lines", "one line", "reverse order of need", "magics"],
)
def test_what_took_half_a_minute_is_read_within_the_limit(cell):
    texts = files_of_notebook(notebook(cell, COUNT), FILES)
    assert texts["parameters.py"].endswith(f"{COUNT}\n")


def test_what_takes_too_long_all_the_same_is_ended():
    with pytest.raises(NotebookUnread, match=r"^this notebook cannot be read: it takes longer than 1 s$"):
        files_of_notebook(notebook(*SLOW), FILES, cpu_s=1)


@pytest.mark.parametrize(
    ("reading", "why"),
    [
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "it ends what reads it"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "it ends what reads it"),
        ("raise ImportError", "the reading itself failed"),
    ],
)
def test_a_notebook_that_ends_what_reads_it_is_told_from_a_fault_of_our_own(
    tmp_path, monkeypatch, reading, why
):
    (tmp_path / "reading.py").write_text(reading)
    monkeypatch.setattr("grader.notebooks.apart._READING", tmp_path / "reading.py")
    with pytest.raises(NotebookUnread, match=f"^this notebook cannot be read: {why}$"):
        files_of_notebook(notebook(COUNT), FILES)


def test_what_takes_too_much_memory_is_ended(monkeypatch):
    monkeypatch.setattr("grader.notebooks.apart.MEMORY_BYTES", 300 << 20)
    lists = b'{"nbformat": 4, "cells": [' + b",".join([b"[]"] * 5_000_000) + b"]}"
    with pytest.raises(NotebookUnread, match=r"^this notebook cannot be read: it takes more than 300 MiB"):
        files_of_notebook(lists, FILES)


def test_the_others_of_a_course_are_graded(tmp_path, monkeypatch):
    (tmp_path / "seed").write_text("5a" * 32)
    (tmp_path / "course.yaml").write_text("seed_file: seed\n")
    course = read_course(tmp_path, find_kit())
    items = []
    for student, cells in (("amara", [COUNT]), ("ghost", SLOW)):
        path = tmp_path / "submitted" / student / "memory" / "memory.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(notebook(*cells))
        items.append(Item(student, "notebook", path))
    went_on = []
    monkeypatch.setattr("grader.notebooks.apart.files_of_notebook.__defaults__", (None, 1))
    monkeypatch.setattr(
        grading, "grade_prepared", lambda course, name, items, *rest: went_on.extend(items) or []
    )
    (lost,) = grade_items(course, "memory", items)
    assert [each.student for each in went_on] == ["amara"]
    assert (lost.item.student, lost.why_not) == (
        "ghost",
        "this notebook cannot be read: it takes longer than 1 s",
    )
    assert len(gradings(course, "memory", "ghost")) == 1


def test_a_cell_too_large_for_its_magics_costs_its_own_function_and_says_why():
    found = statements("%time x\n" * 20 + "y = 1\n" * 10_000 + COUNT)
    assert isinstance(found, Broken)
    assert found.names == {"count"}
    assert found.why == "20 magics in a cell of 60187 characters: give them cells of their own"


def test_statements_are_cut_where_python_sees_their_ends():
    cell = "é = 'ü?'; ß = 'ö'; x = (é,\n  'ä'); y = '''a\x0cb\u2028c'''\n@é\ndef f(): return 5 % 2  # ö"
    texts = [each.text for each in statements(cell)]
    assert texts == [
        "é = 'ü?'",
        "ß = 'ö'",
        "x = (é,\n  'ä')",
        "y = '''a\x0cb\u2028c'''",
        "@é\ndef f(): return 5 % 2  # ö",
    ]
