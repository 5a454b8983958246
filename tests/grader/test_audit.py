"""The audit of a submission's source: what deserves a look is named with its line, what is usual is a note at most."""

import pytest

from grader.audit import audited, published_cases
from grader.audit_reading import MOST_NOTES, notes_on
from tests.adversarial.case import load_cases

LOOKS = {
    "import ctypes": "imports ctypes",
    "import ctypes as c\nc.CDLL(None)": "uses ctypes",
    "from gc import get_objects": "imports gc.get_objects",
    "import gc as collector\ncollector.get_referrers(1)": "uses gc.get_referrers",
    "import sys\nsys._getframe(1).f_locals": "uses sys._getframe",
    "import os\nos.fork()": "uses os.fork",
    "from os import _exit as leave": "imports os._exit",
    "import socket": "imports socket",
    "import urllib.request": "imports urllib.request",
    "import torch.nn.functional as F\nF.scaled_dot_product_attention(1, 2, 3)": "calls the library's attention",
    "from flash_attn import flash_attn_func": "imports flash_attn",
    "exec('x' + y)": "exec of built text",
    "eval(x)": "eval of built text",
    "open('/proc/1/environ')": "names a place",
    "import sys\nsys.modules['x'] = 1": "uses sys.modules",
    "def f(): pass\nf.__code__ = 1": "__code__",
    "import atexit": "imports atexit",
    "import json\njson.dumps = lambda tree: 1": "replaces a part of a library: json.dumps",
    "import torch\nsetattr(torch, 'mm', 1)": "replaces a part of a library: torch.*",
    "from torch import Tensor\ndel Tensor.mm": "replaces a part of a library: torch.Tensor.mm",
    "At = type('At', (), {'__array_interface__': 1})": "reaches memory by address",
}
NOTES = (
    "import threading",
    "import subprocess",
    "import inspect",
    "eval('1 + 1')",
    "import signal",
    "import gc",
    "import torch\ntorch.backends.cuda.matmul.allow_tf32 = True",
)
NOTHING = (
    "import math\nimport torch",
    "import numpy as np\nnp.exp(1)",
    "import helper\nhelper.limit = 1\nsetattr(x, 'a', 1)",
    "x.fork()",
    "cache = {}\ntry:\n    pass\nexcept Exception:\n    pass",
)


@pytest.mark.parametrize("source", LOOKS)
def test_what_deserves_a_look_is_named_with_its_line(source):
    found = [each for each in notes_on("memory/state.py", source) if each["weight"] == "look"]
    assert any(LOOKS[source] in each["what"] for each in found), found
    assert all(1 <= each["line"] <= source.count("\n") + 1 for each in found)


TABLE = """
ANSWERS = {"llama2-7b": 6_738_415_616, "gpt2": 124439808.0, "llama3-8b": 5}
"""


def test_a_table_of_published_answers_deserves_a_look():
    """No check can tell one from honest partial work, which fails hidden checks too: see SECURITY.md."""
    found = [each["what"] for each in notes_on("f.py", TABLE, *published_cases()) if each["weight"] == "look"]
    assert "has a published answer as a number: 6,738,415,616" in found
    assert "has a published answer as a number: 124,439,808.0" in found
    assert "names published cases: gpt2, llama2-7b, llama3-8b" in found
    (one,) = notes_on("f.py", "print('gpt2', 4096, 16, 1.5)", *published_cases())
    assert one["weight"] == "note"


@pytest.mark.parametrize("source", NOTES)
def test_what_honest_code_does_every_day_is_a_note(source):
    assert {each["weight"] for each in notes_on("f.py", source)} == {"note"}


@pytest.mark.parametrize("source", NOTHING)
def test_most_code_is_worth_no_word(source):
    assert notes_on("f.py", source) == []


@pytest.mark.parametrize("source", ["def (", "\0", b"\xff\xfe = 1", "(" * 10_000])
def test_source_that_cannot_be_parsed_says_so(source):
    (note,) = notes_on("f.py", source)
    assert note["what"].startswith("cannot be parsed")


def test_source_that_ends_who_parses_it_ends_a_process_of_its_own(tmp_path):
    (tmp_path / "f.py").write_text("x = " + "-" * 500_000 + "1\n")
    (note,) = audited(tmp_path, ["f.py"])
    assert note.what.startswith("cannot be")


def test_a_look_is_not_hidden_behind_many_notes(tmp_path):
    (tmp_path / "a.py").write_text("import threading\n" * 1_000)
    (tmp_path / "z.py").write_text("import ctypes\n")
    found = audited(tmp_path, ["a.py", "z.py"])
    assert len(found) == MOST_NOTES
    assert (found[0].file, found[0].line, found[0].weight) == ("z.py", 1, "look")


def test_no_honest_case_gets_more_than_a_note(tmp_path):
    """The cases of tests/adversarial that must pass, as they are handed in."""
    from grader.intake import stage
    from grader.kit import find_kit

    kit, published = find_kit(), published_cases()
    looks = {}
    for case in (case for case in load_cases() if case.honest):
        for variant in case.variants:
            name = f"{case.name}-{variant.name}"
            (tmp_path / name).mkdir()
            path = variant.build(tmp_path / name, kit.solutions)
            staged = stage(path, kit.editable(), tmp_path / "staged")
            for file in staged.files:
                found = notes_on(file, (staged.root / file).read_bytes(), *published)
                looks |= {(name, each["line"]): each["what"] for each in found if each["weight"] == "look"}
    assert looks == {}
