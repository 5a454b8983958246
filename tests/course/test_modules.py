"""Cells become files: what a function needs comes along, and an experiment beside it does no harm."""

import decimal
import sys

import pytest

from grader.notebooks.modules import Broken, modules, read, statements

FILES = {"parameters.py": ["count"], "state.py": ["bytes_of"]}


def run(cells, **options):
    """The names that each file defines when it is executed."""
    spaces = {}
    for file, text in modules(read(cells), FILES, **options).items():
        spaces[file] = {}
        exec(compile(text, file, "exec"), spaces[file])  # the test's own text
    return spaces


def test_a_function_brings_what_it_needs_by_name_and_nothing_else():
    cells = [
        "import math\nimport os\nHALF = 0.5\nUNUSED = 1 / 1",
        "def helper(x):\n    return math.floor(x * HALF)",
        "def count(n):\n    return helper(n)",
    ]
    space = run(cells)["parameters.py"]
    assert space["count"](9) == 4
    assert "os" not in space
    assert "UNUSED" not in space


def test_an_experiment_that_raises_or_never_ends_costs_nothing():
    cells = [
        "def count(n):\n    return n",
        "count(3)",
        "while True: pass",
        "model = 1 / 0",
        "for i in range(10): print(count(i))",
    ]
    assert run(cells)["parameters.py"]["count"](2) == 2


def test_a_local_name_of_a_function_is_no_need():
    cells = ["model = 1 / 0\nresult = 1 / 0", "def count(model):\n    result = model\n    return result"]
    assert run(cells)["parameters.py"]["count"](2) == 2


def test_the_last_definition_wins_and_a_table_is_filled_in_order():
    cells = [
        "TABLE = {}",
        "def count(n): return 0",
        "TABLE['a'] = 1\nTABLE.update(b=2)",
        "for key in 'cd':\n    TABLE[key] = 3",
        "def count(n): return TABLE[n]",
    ]
    count = run(cells)["parameters.py"]["count"]
    assert [count(each) for each in "abcd"] == [1, 2, 3, 3]


def test_magics_go_and_the_code_under_a_timing_magic_stays():
    cells = [
        "%load_ext autoreload\n!pip install torch\nfiles = !ls",
        "%%time\ndef count(n):\n    return n + 1",
        "%%bash\nrm -rf /",
        "count?",
        "%timeit count(1)",
    ]
    assert run(cells)["parameters.py"]["count"](1) == 2


def test_the_kit_s_own_import_is_left_to_the_notebook():
    cells = ["from grader.notebooks import check", 'def count(n):\n    return n\ncheck("memory.count")']
    text = modules(read(cells), FILES)["parameters.py"]
    assert "grader" not in text
    assert "check" not in text


@pytest.mark.parametrize(
    "setting",
    [
        "import sys, decimal\nsys.setrecursionlimit(int(4321))\ndecimal.getcontext().prec = 50",
        "import sys as s\ns.setrecursionlimit(4321)\nfrom decimal import getcontext as g\ng().prec = 50",
        "import decimal\nfrom sys import setrecursionlimit\nsetrecursionlimit(4321)\n"
        "decimal.setcontext(decimal.Context(prec=50))",
    ],
)
def test_what_is_set_of_python_itself_is_set_for_the_functions_too(setting):
    cells = ["from decimal import Decimal", setting, "def count(n):\n    return str(1 / Decimal(n))"]
    limit = sys.getrecursionlimit()
    with decimal.localcontext():
        try:
            count = run(cells)["parameters.py"]["count"]
            assert len(count(3)) == 52
            assert sys.getrecursionlimit() == 4321
        finally:
            sys.setrecursionlimit(limit)


def test_a_setting_that_cannot_be_made_by_itself_is_an_experiment():
    cells = [
        "sys.setrecursionlimit(1000)\nimport sys, numpy as np\nsys.setrecursionlimit(N)\nN = 10",
        "sys.setrecursionlimit(np.int64(1000))\nnp.random.seed(0)\ndef count(n):\n    return n",
    ]
    assert modules(read(cells), FILES)["parameters.py"] == "def count(n):\n    return n\n"


def test_of_an_import_of_several_modules_those_alone_that_are_needed_come_along():
    cells = [
        "import math as m, not_installed_here.plots as plt, os.path\nimport grader, cmath",
        "def count(n):\n    return m.floor(n) + cmath.sqrt(0).real",
        "plt.show()",
    ]
    text = modules(read(cells), FILES)["parameters.py"]
    assert text.startswith("import math as m\n\n\nimport cmath\n\n\ndef count")
    assert run(cells)["parameters.py"]["count"](1.5) == 1


def test_decorators_and_comments_stay_so_that_a_kernel_has_its_source():
    kernel = "@triton.jit\ndef kernel(x):  # one program a row\n    pass"
    cell = f"import triton\n\n{kernel}\n\ndef count(n):\n    return kernel"
    text = modules(read([cell]), FILES)["parameters.py"]
    assert kernel in text


def test_a_cell_that_is_no_python_costs_its_own_function_alone():
    cells = ["def bytes_of(n):\n    return n", "def count(n):\n    return (n"]
    spaces = run(cells)
    assert spaces["state.py"]["bytes_of"](1) == 1
    with pytest.raises(SyntaxError, match="was never closed, line 2 of its cell"):
        spaces["parameters.py"]["count"](1)


def test_in_a_running_kernel_the_definition_before_a_broken_cell_still_holds():
    cells = ["def count(n):\n    return 5", "def count(n):\n    return (n"]
    assert run(cells, last_is_broken=False)["parameters.py"]["count"](1) == 5


def test_a_file_whose_functions_nobody_wrote_is_not_made():
    assert set(modules(read(["def count(n): return n"]), FILES)) == {"parameters.py"}
    assert modules(read([]), FILES) == {}


def test_future_imports_come_first_and_star_imports_come_along():
    cells = [
        "from math import *",
        "from __future__ import annotations",
        "def count(n: Never) -> X:\n    return sqrt(n)",
    ]
    assert run(cells)["parameters.py"]["count"](4) == 2


def test_a_statement_that_ran_a_thousand_times_is_there_twice_at_most():
    text = modules(read(["def count(n): return 1", "def count(n): return 2"] * 1000), FILES)["parameters.py"]
    assert text.count("def count") == 4
    assert run(["def count(n): return 1", "def count(n): return 2"] * 1000)["parameters.py"]["count"](0) == 2


@pytest.mark.parametrize(
    "cell",
    ["(" * 3000, "-" * 100_000 + "1", "x = " + "[" * 250, "\x00", "x" * 300_000, "def f(:\n", "é\ud800"],
    ids=["parentheses", "minuses", "brackets", "nul", "long", "syntax", "surrogate"],
)
def test_what_breaks_a_parser_is_a_broken_cell_and_no_crash(cell):
    assert isinstance(statements(cell), Broken)
