"""Installing the mended interpreter: refusals, self-test, and whether it was tampered with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.kernels import interpreter
from grader.kernels.faults import UnsupportedTriton
from tests.kernels._interpreted import interpreted

ROOT = Path(__file__).resolve().parents[2]


def test_it_refuses_a_process_that_does_not_interpret(monkeypatch):
    """TRITON_INTERPRET decides when triton is imported, so it is asked for first."""
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(RuntimeError, match="needs TRITON_INTERPRET=1"):
        interpreter.install()


def test_it_refuses_a_variable_that_was_set_too_late():
    """After the import, functions are decorated for the compiler already."""
    program = (
        "import os, triton\nfrom grader.kernels import interpreter\n"
        "os.environ['TRITON_INTERPRET'] = '1'\ninterpreter.install()"
    )
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    child = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "set it before the process starts" in child.stderr


@interpreted
def test_installing_twice_is_installing_once():
    """And nothing counts as changed."""
    from triton.runtime.interpreter import InterpreterBuilder

    interpreter.install()
    before = InterpreterBuilder.create_dot
    interpreter.install()
    assert InterpreterBuilder.create_dot is before
    assert not interpreter.changed()


@interpreted
def test_a_replaced_mend_is_noticed():
    """A submission that puts its own dot, or its own code under ours, in place."""
    from triton.runtime.interpreter import InterpreterBuilder

    interpreter.install()
    ours = InterpreterBuilder.create_dot
    InterpreterBuilder.create_dot = lambda *arguments: None
    assert interpreter.changed()
    InterpreterBuilder.create_dot = ours
    assert not interpreter.changed()
    code = ours.__code__
    try:
        ours.__code__ = (lambda *arguments, unmended_dot=None, **more: None).__code__
    except ValueError:
        return
    assert interpreter.changed()
    ours.__code__ = code


@interpreted
def test_the_self_test_names_what_is_wrong_and_the_remedy():
    """With a dot that is off."""
    from triton.runtime.interpreter import InterpreterBuilder

    from grader.kernels.interpreter import selftest

    interpreter.install()
    selftest.check()
    ours = InterpreterBuilder.create_dot

    def off(*arguments, **options):
        result = ours(*arguments, **options)
        result.data = result.data * 1.01
        return result

    InterpreterBuilder.create_dot = off
    with pytest.raises(UnsupportedTriton, match=r"a bf16 dot is wrong; .*pip install triton==3\.7\.1"):
        selftest.check()
    InterpreterBuilder.create_dot = ours


@interpreted
def test_a_missing_hook_point_is_named_with_the_remedy():
    """A triton that has renamed what we replace."""
    from triton.runtime import interpreter as triton_interpreter

    from grader.kernels.interpreter import patches

    with pytest.raises(UnsupportedTriton, match=r"has no InterpreterBuilder.create_gone to mend; .*3\.7\.1"):
        patches.replace(triton_interpreter.InterpreterBuilder, "create_gone", None)
