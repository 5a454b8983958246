"""The runner of official gradings with real workers: what a student reads when a call finds no value."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.calls.faults import Raised
from grader.calls.official import SandboxedRunner, stage_kit
from grader.calls.runner import Request
from grader.kit import find_kit
from specs.assignment import assignment

ROOT = Path(__file__).resolve().parents[2]
NOTES = (
    "memory/table.json: not copied, only .py files are",
    "memory/test_sizes.py: not copied, the grader has its own tests",
    "numpy/: not copied, it has the name of a library",
)
Run = Callable[..., object]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Calls `f` of a submission in a worker of its own; files are given as `memory__state="..."`."""
    submission = tmp_path / "submission"
    runner = SandboxedRunner(
        stage_kit(find_kit(ROOT), tmp_path),
        submission,
        {"memory": assignment("memory")},
        "process",
        (),
        NOTES,
    )

    def run_files(*args: object, **sources: str) -> object:
        for name, source in sources.items():
            path = submission / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        return runner.run(Request("memory", "state.py", "f", args))

    yield run_files
    runner.close()


@pytest.mark.parametrize("name", ["worker", "wire", "serve", "load", "limits", "probes"])
def test_no_file_of_the_workers_own_shadows_a_helper(run: Run, name: str) -> None:
    source = f"from {name} import SIZE\ndef f():\n    return SIZE\n"
    assert run(memory__state=source, **{f"memory__{name}": "SIZE = 7\n"}) == 7


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("from .test_sizes import X", NOTES[1]),
        ("from memory.test_sizes import X", NOTES[1]),
        ("import h5_nothing", ""),
    ],
)
def test_a_module_that_was_left_out_is_missed_with_the_reason(run: Run, line: str, note: str) -> None:
    with pytest.raises(Raised) as caught:
        run(memory__state=f"def f():\n    {line}\n")
    assert "f raised ModuleNotFoundError: No module named" in caught.value.message
    assert (f"({note}) at memory/state.py, line 2" in caught.value.message) is bool(note)
    assert "not copied" not in caught.value.hidden_message
    assert ("not copied" in caught.value.message) is bool(note)


def test_code_that_breaks_the_arguments_is_not_said_to_break_its_import(run: Run) -> None:
    source = "import sys\nsys.modules['_rooflab_worker.wire'].decode = None\ndef f(x):\n    return x\n"
    with pytest.raises(Raised) as caught:
        run(1, memory__state=source)
    assert caught.value.message.startswith("f raised TypeError")
