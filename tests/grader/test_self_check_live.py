"""A self-check that a student interrupts or debugs: what a keyboard does while `pytest assignments/...` runs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ONE = "memory.shape_from_parameter_count"
WRONG = """
def shape_from_parameter_count(count):
    mine = count + 1
    return mine / 0
"""
ENDLESS = """
def shape_from_parameter_count(count):
    while True:
        pass
"""


def start(root: Path, *arguments: str | Path, still_running_after_s: float = 10.0) -> subprocess.Popen[str]:
    """pytest with a keyboard; it says sooner than after 10 s that a check is still running."""
    script = (
        "import sys, pytest, grader.plugin as plugin;"
        f"plugin.STILL_RUNNING_AFTER_S = {still_running_after_s};"
        "sys.exit(pytest.main(sys.argv[1:]))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script, "-p", "no:cacheprovider", *map(str, arguments)],
        cwd=root,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=hears_ctrl_c,
    )


def hears_ctrl_c() -> None:
    """A suite that was started in the background ignores SIGINT, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def typed(root: Path, text: str, *arguments: str | Path) -> tuple[int, str]:
    """Exit code and output of pytest where somebody types `text`."""
    process = start(root, *arguments)
    out, _ = process.communicate(text, timeout=60)
    return process.returncode, out


def test_the_debugger_opens_in_the_students_function_with_its_variables(checkout, student):
    folder = student(parameters=WRONG)
    arguments = ("assignments/memory", "--submission", folder, "--exercise", ONE, "--pdb", "-x")
    _, out = typed(checkout.folder, "p 'mine is', mine\nq\n", *arguments)
    assert "return mine / 0" in out
    assert "('mine is', 7000000001)" in out


def test_the_debugger_opens_at_the_checks_line_where_a_value_is_wrong(checkout, student):
    folder = student(parameters="def shape_from_parameter_count(count):\n    return 5\n")
    arguments = ("assignments/memory", "--submission", folder, "--exercise", ONE, "--pdb", "-x")
    _, out = typed(checkout.folder, "p 'got is', got\nq\n", *arguments)
    assert "('got is', 5)" in out


@pytest.mark.parametrize("place", ["    breakpoint()\n", ""])
def test_quitting_the_debugger_quits_pytest(checkout, student, place):
    head = "" if place else "breakpoint()\n\n"
    folder = student(parameters=f"{head}def shape_from_parameter_count(count):\n{place}    return 5\n")
    code, out = typed(checkout.folder, "q\n", "assignments/memory", "--submission", folder, "--exercise", ONE)
    assert code == 2
    assert out.count("(Pdb)") == 1
    assert "Exit: Quitting debugger" in out
    assert "grader error" not in out


def test_quitting_a_debugger_of_ones_own_quits_pytest(checkout, student):
    folder = student(
        parameters="import pdb\n\ndef shape_from_parameter_count(count):\n    pdb.Pdb().set_trace()\n    return 5\n"
    )
    arguments = ("assignments/memory", "--submission", folder, "--exercise", ONE, "-s")
    code, out = typed(checkout.folder, "q\n", *arguments)
    assert code == 2
    assert out.count("(Pdb)") == 1
    assert "Exit: the debugger was quit" in out
    assert "raised BdbQuit" not in out


def test_an_endless_loop_is_told_and_ctrl_c_leaves_the_table_of_what_ran(checkout, student):
    folder = student(parameters=ENDLESS)
    process = start(
        checkout.folder,
        "assignments/memory/test_activations.py",
        "assignments/memory/test_parameters.py",
        "--submission",
        folder,
        still_running_after_s=0.5,
    )
    told, out, code = stopped(process)
    assert told.startswith("still running shape_from_parameter_count after 0.5 s (7 billion parameters are")
    assert told.endswith("Ctrl-C stops it\n")
    assert code == 2
    assert "memory.activation_bytes" in out
    assert "part of the checks only" in out
    assert "stopped while memory.shape_from_parameter_count ran" in out
    assert "KeyboardInterrupt" in out


def test_ctrl_c_in_the_only_check_says_what_ran(checkout, student):
    folder = student(parameters=ENDLESS)
    words = ("assignments/memory", "--submission", folder, "--exercise", ONE)
    process = start(checkout.folder, *words, still_running_after_s=0.5)
    _, out, _ = stopped(process)
    assert f"stopped while {ONE} ran" in out
    assert "no checks there" not in out


def test_next_tells_an_endless_loop_and_what_ctrl_c_stopped(checkout, student):
    folder = student(parameters=ENDLESS)
    words = ["next", "memory", "--submission", str(folder)]
    script = (
        "import sys, grader.plugin as plugin, grader.cli as cli;"
        f"plugin.STILL_RUNNING_AFTER_S = 0.5; sys.argv = ['grader', *{words!r}]; cli.main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=checkout.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=hears_ctrl_c,
    )
    told, out, code = stopped(process)
    assert told.startswith("still running shape_from_parameter_count after 0.5 s (7 billion parameters are")
    assert out.splitlines() == [
        f"stopped while {ONE} ran",
        "grader: interrupted; run the same command again to go on",
    ]
    assert code == 130


def stopped(process: subprocess.Popen[str]) -> tuple[str, str, int]:
    """Ctrl-C when the endless loop is told: that line, what follows, and the exit code."""
    assert process.stdout is not None
    told = next((line for line in process.stdout if "still running shape_" in line), "")
    process.send_signal(signal.SIGINT)
    try:
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()  # an endless loop must not outlive a test that fails
    return told, out, process.returncode


def test_a_breakpoint_is_not_called_still_running(checkout, student):
    folder = student(parameters="def shape_from_parameter_count(count):\n    breakpoint()\n    return 5\n")
    process = start(
        checkout.folder,
        "assignments/memory",
        "--submission",
        folder,
        "--exercise",
        ONE,
        still_running_after_s=1.0,
    )
    time.sleep(3)
    out, _ = process.communicate("q\n", timeout=60)
    assert "(Pdb)" in out
    assert "still running" not in out
