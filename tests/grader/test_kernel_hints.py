"""Hints for wrong kernels: mistakes are run in workers, and other files or constants stand in for a function."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from grader.calls import submission as submissions
from grader.calls.faults import KernelFinding
from grader.calls.runner import LocalRunner, OtherFile, Request
from grader.calls.submission import Submission
from grader.checks.mistakes import LiveMistakes, find_hint, load_mistakes
from grader.checks.stored_mistakes import StoredMistakes, stored_form
from tests.grader.small_kernels import KIT, SOLUTION, Worked, X, Y, on_linux

pytestmark = on_linux


@pytest.fixture(scope="module")
def mistakes(kernel_spec, with_assignment) -> Iterator[tuple[list[Any], LocalRunner]]:
    runner = LocalRunner(KIT / "solutions")
    yield load_mistakes(KIT / "solutions", "kernel_kit"), runner
    runner.close()


@pytest.fixture(scope="module")
def lanes(mistakes):
    return mistakes[1]._lanes()


STUDENTS = {
    # Other tiles than the mistakes have.
    "adds_first_twice": ("add", "def add(x, y):\n    return ADD(x, x, 128)\n"),
    "subtracts": ("add", "def add(x, y):\n    return ADD(x, y, 16) - 2 * y\n"),
    "tail_unmasked": ("add_ragged", None),
    "": ("add", "def add(x, y):\n    return 3 * x\n"),
}


@pytest.mark.parametrize("name", STUDENTS)
def test_a_students_own_wrong_kernel_gets_the_hint_of_the_mistake(
    tmp_path, with_assignment, mistakes, lanes, name
):
    exercise, ending = STUDENTS[name]
    body = (KIT / "solutions/kernel_kit/mistakes/tail_unmasked.py").read_text().replace("64", "32")
    if ending is not None:
        body = (
            SOLUTION.replace("def add(x, y):", "def ADD(x, y, block):")
            .replace("n, 64", "n, block")
            .replace("BLOCK=64", "BLOCK=block")
        ) + f"\n\n{ending}"
    (tmp_path / "kernel_kit").mkdir()
    (tmp_path / "kernel_kit" / "vector.py").write_text(body, encoding="utf-8")
    runner = LocalRunner(tmp_path)
    submission = Submission(runner)
    symptom = ""
    try:
        submission.begin_check(f"kernel_kit.{exercise}")
        submission.kernel_kit.add(X, Y)
    except KernelFinding as found:
        symptom = found.symptom
    finally:
        runner.close()
    live = LiveMistakes(mistakes[0], lanes)
    shown, _ = find_hint(live, f"kernel_kit.{exercise}", submission.calls, [], [], symptom)
    assert shown.rpartition(".")[2] == name
    path = tmp_path / "wrong_values.json"
    right = {f"kernel_kit.{exercise}": [submissions.Call(call.request, None) for call in submission.calls]}
    path.write_text(json.dumps(stored_form(mistakes[0], right, lanes)))
    stored = StoredMistakes(path)
    _, hint = find_hint(stored, f"kernel_kit.{exercise}", submission.calls, [], [], symptom)
    assert hint == next((m.hint for m in mistakes[0] if m.name == shown), "")


def test_another_file_stands_in_for_a_function(mistakes, with_assignment):
    runner = LocalRunner(
        KIT / "solutions",
        {("kernel_kit", "add"): OtherFile("mistakes/subtracts.py")},
        lanes=mistakes[1]._lanes(),
    )
    assert torch.equal(Worked(Submission(runner)).at("add").add(X, Y), X - Y)


def test_a_constant_stands_in_for_a_kernel_without_a_worker(with_assignment):
    class NoLanes:
        def run(self, request: Request) -> Any:
            raise AssertionError("no worker is needed")

        def close(self) -> None: ...

    runner = LocalRunner(KIT / "solutions", {("kernel_kit", "add"): lambda *args: 7}, lanes=NoLanes())
    add = Worked(Submission(runner)).at("add").add
    assert add(X, Y) == 7
    assert add.metered(X, Y).value == 7
    assert add.metered(X, Y).evidence.launches == ()
    assert add.compiled(X, Y) == ()
    assert add.gradients(X, Y) == (7, (None, None))
