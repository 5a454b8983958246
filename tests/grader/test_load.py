"""Loading a submission by path: its files work together, shadow nothing; what they raise is described."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.worker.load import _loaded, describe_exception, load_module, unload

Write = Callable[..., Path]


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "submission"
    for left_by_another_test in list(_loaded):
        unload(Path(left_by_another_test))
    before = list(sys.path), set(sys.modules), list(sys.meta_path)
    yield folder
    unload(folder)
    assert sys.path == before[0]
    assert sys.meta_path == before[2]
    left = {name: sys.modules[name] for name in set(sys.modules) - before[1]}
    assert not [name for name, module in left.items() if str(tmp_path) in str(vars(module).get("__file__"))]


@pytest.fixture
def write(root: Path) -> Write:
    def write_files(**sources: str | bytes) -> Path:
        """`memory__state="..."` becomes memory/state.py."""
        for name, source in sources.items():
            path = root / f"{name.replace('__', '/').replace('INIT', '__init__')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source if isinstance(source, bytes) else source.encode())
        return root

    return write_files


# ---- loading


def test_a_file_runs_once_however_often_it_is_asked_for(write: Write) -> None:
    root = write(memory__state="import sys\nsys.h5_runs = getattr(sys, 'h5_runs', 0) + 1\n")
    try:
        first, second = load_module(root, "memory", "state.py"), load_module(root, "memory", "state.py")
        assert first is second
        assert vars(sys).get("h5_runs") == 1
    finally:
        vars(sys).pop("h5_runs", None)


def test_a_relative_import_meets_the_same_module_as_the_loader(write: Write) -> None:
    root = write(memory__state="VALUE = []", memory__total="from .state import VALUE\nfrom . import state")
    total = load_module(root, "memory", "total.py")
    assert total.VALUE is load_module(root, "memory", "state.py").VALUE
    assert total.state is load_module(root, "memory", "state.py")


@pytest.mark.parametrize(
    "line",
    [
        "from h5_helpers import answer",
        "from h5_course import answer",
        "from memory.h5_helpers import answer",
        "from .h5_helpers import answer",
        "from .h5_package.inner import answer",
        "from h5_package import answer",
    ],
)
def test_helpers_beside_the_file_or_at_the_root_are_found(write: Write, line: str) -> None:
    root = write(
        memory__state=line,
        memory__h5_helpers="answer = 42",
        h5_course="answer = 42",
        memory__h5_package__INIT="from .inner import answer",
        memory__h5_package__inner="answer = 42",
    )
    assert load_module(root, "memory", "state.py").answer == 42


def test_a_helper_imported_while_a_function_runs_is_found(write: Write) -> None:
    root = write(
        memory__state="def f():\n    import h5_late\n    return h5_late.X\n", memory__h5_late="X = 1"
    )
    assert load_module(root, "memory", "state.py").f() == 1


@pytest.mark.parametrize("name", ["numpy", "json", "specs", "grader", "colorsys"])
def test_a_file_with_the_name_of_a_library_shadows_nothing(write: Write, name: str) -> None:
    forged = {f"memory__{name}": "FORGED = True", name: "FORGED = True"}
    root = write(memory__state=f"import {name} as library", **forged)
    assert not hasattr(load_module(root, "memory", "state.py").library, "FORGED")


def test_two_assignments_of_one_submission_live_side_by_side(write: Write) -> None:
    root = write(memory__state="NAME = 'memory'", roofline__state="NAME = 'roofline'")
    names = [
        load_module(root, assignment, "state.py").NAME for assignment in ("memory", "roofline", "memory")
    ]
    assert names == ["memory", "roofline", "memory"]


def test_helpers_of_one_name_belong_each_to_its_own_assignment(write: Write) -> None:
    late = "def late():\n    import h5_late\n    return h5_late.NAME, len(h5_late.CALLS), h5_late.CALLS.append(1)\n"
    files = {}
    for name in ("memory", "roofline"):
        files[f"{name}__state"] = f"from h5_utils import NAME\nimport h5_course\n{late}"
        files[f"{name}__h5_utils"] = f"NAME = {name!r}"
        files[f"{name}__h5_late"] = f"NAME, CALLS = {name!r}, []"
    root = write(**files, h5_course="")
    seen, shared = [], set()
    for assignment in ("memory", "roofline", "memory", "roofline"):
        module = load_module(root, assignment, "state.py")
        seen.append((module.NAME, *module.late()[:2]))
        shared.add(id(sys.modules["h5_course"]))
    # Each helper ran once: what it remembered is there when its assignment is called again.
    assert seen == [
        ("memory", "memory", 0),
        ("roofline", "roofline", 0),
        ("memory", "memory", 1),
        ("roofline", "roofline", 1),
    ]
    assert len(shared) == 1


def test_another_submission_gets_its_own_files_and_helpers(tmp_path: Path) -> None:
    answers = []
    for number in (1, 2, 1):
        folder = tmp_path / str(number) / "memory"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "state.py").write_text("from h5_own import answer")
        (folder / "h5_own.py").write_text(f"answer = {number}")
        answers.append(load_module(folder.parent, "memory", "state.py").answer)
    unload(tmp_path / "1")
    assert answers == [1, 2, 1]


def test_unload_forgets_an_edit_of_the_same_second_and_size(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    root = write(memory__state="X = 1", memory__h5_side="Y = 1")
    assert load_module(root, "memory", "state.py").X == 1
    unload(root)
    assert not [name for name in sys.modules if name.startswith("_submission_")]
    write(memory__state="X = 2")
    assert load_module(root, "memory", "state.py").X == 2


def test_unload_leaves_pytests_own_files_beside_the_stubs(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(memory__state="X = 1", memory__test_state="", memory__h5_mine="")
    for name in ("test_state", "h5_mine"):
        module = type(sys)(name)
        module.__file__ = str(root / "memory" / f"{name}.py")
        monkeypatch.setitem(sys.modules, name, module)
    unload(root)
    assert "test_state" in sys.modules
    assert "h5_mine" not in sys.modules
    del sys.modules["test_state"]
    sys.modules["h5_mine"] = module  # for monkeypatch to take away again


def test_unload_of_what_was_never_loaded_does_nothing(tmp_path: Path) -> None:
    before = dict(sys.modules)
    unload(tmp_path / "nothing")
    assert sys.modules == before


@pytest.mark.parametrize(
    "source",
    [
        b"def f():\r\n    return 1\r\n",
        b"\xef\xbb\xbfdef f():\n    return 1\n",
        b"def f():\n\treturn 1\n",
        "# π ≈ 3, naïve\ndef f():\n    return 1\n".encode(),
        b"# -*- coding: latin-1 -*-\n# \xe9\ndef f():\n    return 1\n",
        b"def f():\n    return 1\nif __name__ == '__main__':\n    raise SystemExit('ran as a script')\n",
        b"print('hello')\ndef f():\n    return 1\n",
        b"def f():\n    return 1",
    ],
    ids=["crlf", "bom", "tabs", "non-ascii", "latin-1", "main-block", "prints", "no-newline"],
)
def test_honest_oddities_of_a_file_load(write: Write, source: bytes) -> None:
    assert load_module(write(memory__state=source), "memory", "state.py").f() == 1


def test_a_missing_file_is_named(write: Write) -> None:
    root = write(memory__state="")
    with pytest.raises(FileNotFoundError, match=r"memory/parameters\.py: no such file in the submission"):
        load_module(root, "memory", "parameters.py")


def test_no_compiled_leftover_of_the_file_is_written(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    root = write(memory__state="X = 1")
    load_module(root, "memory", "state.py")
    assert sorted(path.name for path in (root / "memory").iterdir()) == ["state.py"]


def test_a_file_that_failed_is_run_again_after_it_is_mended(write: Write) -> None:
    root = write(memory__state="raise ValueError('first')")
    with pytest.raises(ValueError, match="first"):
        load_module(root, "memory", "state.py")
    write(memory__state="X = 1")
    assert load_module(root, "memory", "state.py").X == 1


# ---- describing what went wrong


def raised(root: Path, call: bool = True) -> BaseException:
    """What memory/state.py raises when it is loaded, or its f() called."""
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - SystemExit and KeyboardInterrupt too
        load_module(root, "memory", "state.py").f()
    return caught.value


def test_frames_are_the_students_own_innermost_last(write: Write) -> None:
    root = write(
        memory__state="import json\nfrom .inner import g\n\ndef f():\n    json.loads('1', parse_int=g)\n",
        memory__inner="def g(x):\n    return 1 / 0  # here\n",
    )
    assert describe_exception(raised(root), root) == {
        "type": "ZeroDivisionError",
        "message": "division by zero",
        "frames": [
            ("memory/state.py", 5, "json.loads('1', parse_int=g)"),
            ("memory/inner.py", 2, "return 1 / 0  # here"),
        ],
        "is_todo": False,
    }


def test_an_exception_inside_a_library_points_to_the_students_call(write: Write) -> None:
    root = write(memory__state="import json\ndef f():\n    return json.loads('{')\n")
    described = describe_exception(raised(root), root)
    assert described["frames"] == [("memory/state.py", 3, "return json.loads('{')")]


@pytest.mark.parametrize(
    ("source", "is_todo"),
    [
        ("def f():\n    raise NotImplementedError", True),
        ("def f():\n    raise NotImplementedError('write the sum here')", True),
        ("def g():\n    raise NotImplementedError\ndef f():\n    return g()", True),
        ("class Mine(NotImplementedError): ...\ndef f():\n    raise Mine", False),
        ("import asyncio\ndef f():\n    asyncio.AbstractEventLoop().stop()", False),
        ("def f():\n    exec('raise NotImplementedError')", False),
        ("def f():\n    raise ValueError('NotImplementedError')", False),
    ],
)
def test_todo_is_a_stubs_own_not_implemented_and_nothing_else(
    write: Write, source: str, is_todo: bool
) -> None:
    root = write(memory__state=source)
    assert describe_exception(raised(root), root)["is_todo"] is is_todo


@pytest.mark.parametrize(
    ("source", "type_name", "line", "text"),
    [
        ("x = 1\ndef f(:\n    pass\n", "SyntaxError", 2, "def f(:"),
        ("def f():\n  x = 1\n   y = 2\n", "IndentationError", 3, "y = 2"),
        ("def f():\n\tif 1:\n        x = 1\n", "TabError", 3, "x = 1"),
        ("x = 'never closed\n", "SyntaxError", 1, "x = 'never closed"),
    ],
)
def test_a_syntax_error_gives_the_place_once(
    write: Write, source: str, type_name: str, line: int, text: str
) -> None:
    root = write(memory__state=source)
    described = describe_exception(raised(root), root)
    assert described["type"] == type_name
    assert described["frames"] == [("memory/state.py", line, text)]
    assert "state.py" not in described["message"]


def test_a_syntax_error_in_a_helper_names_the_helper_last(write: Write) -> None:
    root = write(memory__state="import h5_broken", h5_broken="x = = 1")
    frames = describe_exception(raised(root), root)["frames"]
    assert frames == [("memory/state.py", 1, "import h5_broken"), ("h5_broken.py", 1, "x = = 1")]


@pytest.mark.parametrize("source", [b"x = '\xff'\n", b"x = 1\0\n", b"# coding: nonsense\n"])
def test_a_file_that_is_no_text_is_described(write: Write, source: bytes) -> None:
    root = write(memory__state=source)
    described = describe_exception(raised(root), root)
    assert described["type"] in ("SyntaxError", "ValueError")
    assert described["message"]


def test_of_a_deep_recursion_the_way_in_and_the_end_are_kept(write: Write) -> None:
    root = write(memory__state="def f(n=0):\n    return f(n + 1)\n")
    described = describe_exception(raised(root), root)
    assert described["type"] == "RecursionError"
    assert described["frames"] == [("memory/state.py", 2, "return f(n + 1)")] * 15


@pytest.mark.parametrize(
    ("source", "type_name", "message"),
    [
        ("raise SystemExit(3)", "SystemExit", "3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("import h5_nothing", "ModuleNotFoundError", "No module named 'h5_nothing'"),
        ("raise ValueError('x' * 10**6)", "ValueError", "x" * 497 + "..."),
        ("raise ValueError('a\\x1b[2Jb\\x07\\u202e\\ud800\\tc\\nd')", "ValueError", "a?[2Jb??? c\nd"),
        ("class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E", "E", None),
        ("class E(Exception):\n    def __str__(self): raise SystemExit\nraise E", "E", None),
        ("class E(Exception):\n    def __str__(self): return 3\nraise E", "E", None),
        ("class E(Exception):\n    def __str__(self): return self.__str__()\nraise E", "E", None),
        (
            "class S(str):\n    def __len__(self): return -1\n    def __getitem__(self, i): raise OSError\n"
            "class E(Exception):\n    def __str__(self): return S('kept')\nraise E",
            "E",
            "kept",
        ),
        ("raise type('T' * 300 + '\\x1b', (Exception,), {})", "T" * 97 + "...", ""),
        ("e = SyntaxError('m')\ne.filename = 3\ne.lineno = 'x'\nraise e", "SyntaxError", "m"),
        ("e = SyntaxError('m', (__file__, 10**9, 0, 7))\nraise e", "SyntaxError", "m"),
        ("e = SyntaxError()\ne.msg = object()\nraise e", "SyntaxError", None),
        ("class M(type):\n    @property\n    def __name__(cls): raise OSError\n"
         "class E(Exception, metaclass=M): ...\nraise E", "exception", ""),
        ("class E(Exception):\n    @property\n    def __traceback__(self): raise OSError\nraise E", "E", ""),
        ("raise ExceptionGroup('several', [ValueError(1)])", "ExceptionGroup", "several (1 sub-exception)"),
        ("exec(compile('1 / 0', 'bad\\x00name', 'exec'))", None, None),
    ],
)  # fmt: skip
def test_whatever_is_raised_is_described_in_plain_short_printable_data(
    write: Write, source: str, type_name: str | None, message: str | None
) -> None:
    root = write(memory__state=source)
    described = describe_exception(raised(root), root)
    if type_name is not None:
        assert described["type"] == type_name
    if message is not None:
        assert described["message"] == message
    assert described["is_todo"] is False
    assert len(json.dumps(described, ensure_ascii=False).encode()) < 6000
    assert all(type(part) is str for part in (described["type"], described["message"]))


def test_frames_outside_the_submission_are_not_shown(tmp_path: Path, write: Write) -> None:
    root = write(memory__state="def f(): pass")
    try:
        raise NotImplementedError
    except NotImplementedError as error:
        described = describe_exception(error, root)
    assert described["frames"] == []
    assert described["is_todo"] is False


def test_code_without_a_file_is_not_the_students_even_below_the_current_folder(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(memory__state="def f():\n    exec('1 / 0')\n")
    monkeypatch.chdir(root / "memory")
    assert describe_exception(raised(root), root)["frames"] == [("memory/state.py", 2, "exec('1 / 0')")]


def test_a_submission_behind_a_symlink_still_knows_its_own_frames(tmp_path: Path, write: Write) -> None:
    write(memory__state="def f():\n    raise NotImplementedError\n")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "submission")
    try:
        described = describe_exception(raised(link), link)
    finally:
        unload(link)
    assert described["frames"] == [("memory/state.py", 2, "raise NotImplementedError")]
    assert described["is_todo"] is True
