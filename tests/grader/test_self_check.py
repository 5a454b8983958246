"""The self-check as a student runs it: `pytest assignments/memory`, in a process of its own."""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from pathlib import Path

import pytest

from specs.assignment import assignment

MEMORY = assignment("memory")
ONE = "memory.shape_from_parameter_count"


@pytest.fixture(scope="module")
def solved(checkout):
    return checkout.pytest("assignments/memory", "--submission", "solutions")


@pytest.fixture(scope="module")
def in_trouble(checkout, student):
    """One student who went wrong in many ways at once, as (result, folder)."""
    folder = student(
        state="""
_right = state_bytes_per_parameter

def state_bytes_per_parameter(recipe):
    return _right(recipe).model_copy(update={"master": 0})

def bf16_update_lost(weight, update):
    return weight / 0 == update  # divides

def adapter_state_bytes(*args):
    return adapter_state_bytes(*args)

def zero_state_bytes(*args, **kwargs):
    raise SystemExit(0)
""",
        parameters="def broken(:\n",
        activations="del activation_bytes\n\ndef kv_cache_bytes(*args, **kwargs):\n    pass\n",
        checkpoint="def checkpoint(*args):\n    raise NotImplementedError('write me')\n",
    )
    (folder / "memory" / "budget.py").unlink()
    return checkout.pytest("assignments/memory", "--submission", folder), folder


def part(text: str, exercise: str) -> str:
    """What the summary says of one exercise, its own line first."""
    blocks = re.split(r"^  (?=memory\.)", text, flags=re.MULTILINE)
    return next(block for block in blocks if block.startswith(f"memory.{exercise} "))


def on_a_terminal(root: Path, *arguments: str) -> tuple[int, list[str]]:
    """Exit code and lines of pytest on a terminal of 100 columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    environment["TERM"] = "xterm-256color"
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=root,
        env=environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            read = os.read(master, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not read:
            break
        shown += read
    os.close(master)
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode()).replace("\r\n", "\n")
    return process.wait(), text.splitlines()


def test_untouched_stubs_are_one_todo_line_each_and_fit_on_a_screen(checkout):
    code, lines = on_a_terminal(checkout.folder, "assignments/memory")
    todo = [line for line in lines if " todo " in line]
    assert code == 1
    assert len(todo) == len(MEMORY.exercises)
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 100
    assert "0 of 100 points" in lines[-1]
    assert not any("Traceback" in line or "Error" in line for line in lines)
    assert sum(not line.strip() for line in lines) <= 1


def test_the_solutions_earn_everything(solved):
    extra = sum(each.points for each in MEMORY.exercises if each.extra_credit)
    assert solved.code == 0
    assert f"100 of 100 points and {extra:g} extra" in solved.out
    assert solved.err == ""


def test_calculators_run_without_importing_torch(checkout):
    calculators = [f"--exercise=memory.{each.id}" for each in MEMORY.exercises if "torch" not in each.needs]
    arguments = ["assignments/memory", "--submission", "solutions", *calculators]
    run = f"code = pytest.main({arguments!r})"
    script = f"import sys, pytest; {run}; print('torch' in sys.modules); sys.exit(code)"
    done = subprocess.run([sys.executable, "-c", script], cwd=checkout.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "False"
    assert "100 of 100 points" in done.stdout


def test_a_wrong_term_is_named_with_got_expected_how_far_and_the_hint(in_trouble):
    text = part(in_trouble[0].out, "state_bytes_per_parameter")
    assert text.splitlines()[0].split()[1] == "failed"
    assert "adamw-bf16: master: got 0 bytes, expected 4 bytes (it is 0)" in text
    assert "hint: " in text
    assert "master" in text.split("hint: ")[1].splitlines()[0]


def test_an_exception_is_told_with_its_file_line_and_source(in_trouble):
    done, folder = in_trouble
    source = (folder / "memory" / "state.py").read_text().splitlines()
    line = next(number for number, text in enumerate(source, start=1) if "# divides" in text)
    text = part(done.out, "bf16_update_lost")
    assert (
        f"bf16_update_lost raised ZeroDivisionError: float division by zero at memory/state.py, line {line}"
        in text
    )
    assert "return weight / 0 == update" in text


def test_endless_recursion_and_exit_are_failures_like_others(in_trouble):
    done, _ = in_trouble
    assert "adapter_state_bytes raised RecursionError" in part(done.out, "adapter_state_bytes")
    assert "zero_state_bytes raised SystemExit" in part(done.out, "zero_state_bytes")


def test_a_syntax_error_is_told_with_its_line_for_every_exercise_of_the_file(in_trouble):
    done, folder = in_trouble
    line = len((folder / "memory" / "parameters.py").read_text().splitlines())
    for exercise in ("parameter_count", "expert_parameter_counts"):
        text = part(done.out, exercise)
        assert f"at memory/parameters.py, line {line}: def broken(:" in text
        assert "parameters.py cannot be imported: SyntaxError" in text


def test_a_lost_function_and_a_lost_return_are_named(in_trouble):
    done, _ = in_trouble
    assert "activations.py has no function activation_bytes: keep the stub's name" in part(
        done.out, "activation_bytes"
    )
    assert "it returned None: is there a return?" in part(done.out, "kv_cache_bytes")


def test_a_missing_file_is_todo(in_trouble):
    assert part(in_trouble[0].out, "memory_budget").split()[1] == "todo"


def test_nothing_that_a_student_does_shows_a_traceback_or_a_grader_error(in_trouble):
    done, _ = in_trouble
    assert done.code == 1
    assert "Traceback" not in done.text
    assert "INTERNALERROR" not in done.text
    assert "grader error" not in done.text


def test_a_stub_among_finished_functions_is_named(checkout, student):
    folder = student(budget="def gpus_needed(total_bytes, gpu):\n    raise NotImplementedError('write me')\n")
    done = checkout.pytest("assignments/memory", "--submission", folder, "--exercise", "memory.memory_budget")
    assert done.code == 1
    text = part(done.out, "memory_budget")
    assert text.split()[1] == "failed"
    assert "still to be written" in text


def test_one_exercise_can_be_asked_for(checkout):
    done = checkout.pytest(
        "assignments/memory", "--submission", "solutions", "--exercise", "shape_from_parameter_count"
    )
    assert done.code == 0
    assert "  5 of 5 points" in done.out
    assert done.out.count("memory.") == 1


@pytest.mark.parametrize(
    "part",
    [
        ("assignments/memory", "-k", "nearest"),
        ("assignments/memory/test_parameters.py::test_layers_are_rounded_to_the_nearest",),
    ],
)
def test_part_of_an_exercises_checks_earns_no_points(checkout, part):
    done = checkout.pytest(*part, "--submission", "solutions")
    assert done.code == 0
    assert re.search(rf"{ONE} +passed +1 of 4 checks ran$", done.out, re.MULTILINE)
    assert done.out.splitlines()[-1].startswith("  no points, part of the checks only (self-check")


def test_whole_exercises_keep_their_points_beside_one_of_which_part_ran(checkout):
    done = checkout.pytest(
        "assignments/memory", "--submission", "solutions", "-k", "layer or shape or billion or smallest"
    )
    assert re.search(rf"{ONE} +passed +5 / 5$", done.out, re.MULTILINE)
    assert "checks ran" in done.out
    assert "  5 of 5 points" in done.out.splitlines()[-1]
    assert "part of the checks only" in done.out.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("assignments/memory", "--submission", "no/such/folder"), "no/such/folder: no such folder"),
        (
            ("assignments/memory", "--submission", "specs"),
            "specs: holds no <assignment>/<file>, such as memory/state.py",
        ),
        (("assignments/memory", "--submission"), "--submission: name a folder"),
        (("--submission", "solutions"), "say which tests to run"),
        (
            ("assignments/memory", "--exercise", "memory.nope"),
            "exercise memory.nope: no such exercise, choose one of",
        ),
        (("assignments/memory", "--exercise", "nope.nope"), "assignment 'nope': no such assignment"),
        (
            ("assignments/memory", "--exercise", "roofline.matmul_costs"),
            "no check of roofline.matmul_costs under assignments/memory; try pytest assignments/roofline",
        ),
        (
            ("assignments/memory/test_state.py", "--exercise", "memory.parameter_count"),
            "no check of memory.parameter_count under assignments/memory/test_state.py;"
            " try pytest assignments/memory",
        ),
    ],
)
def test_a_wrong_option_is_one_line(checkout, arguments, named):
    done = checkout.pytest(*arguments)
    lines = [line for line in done.text.splitlines() if line.strip()]
    assert done.code == 4
    assert len(lines) == 1, done.text
    assert named in lines[0]


@pytest.mark.parametrize(
    ("file", "find", "replace", "named"),
    [
        ("specs/assignments/memory.yaml", "points: 10", "points: ten", "exercises.0.points"),
        ("specs/assignments/memory.yaml", "name: memory", "name: [memory", "not valid YAML"),
    ],
)
def test_a_broken_spec_is_one_line_with_file_and_field(kit_copy, file, find, replace, named):
    path = kit_copy.folder / file
    path.write_text(path.read_text().replace(find, replace, 1))
    done = kit_copy.pytest("assignments/memory")
    lines = [line for line in done.text.splitlines() if line.strip()]
    assert done.code == 4
    assert len(lines) == 1, done.text
    assert file in lines[0]
    assert named in lines[0]


def test_pytests_own_view_is_there_for_who_asks(checkout):
    arguments = ("assignments/memory", "--exercise", ONE)
    assert re.search(r"::test_\w+ FAILED", checkout.pytest(*arguments, "-v").out)
    short = checkout.pytest(*arguments, "--tb=short").out
    assert "= FAILURES =" in short
    assert "grader.calls.faults.Todo" in short


@pytest.mark.parametrize("asked", ["-v", "--tb=short"])
def test_pytests_own_view_ends_at_the_tests_line_or_the_students(checkout, student, asked):
    folder = student(
        parameters="def shape_from_parameter_count(count):\n    return 5\n",
        state="def bf16_update_lost(weight, update):\n    return weight / 0\n",
    )
    exercises = ("--exercise", ONE, "--exercise", "memory.bf16_update_lost")
    text = checkout.pytest("assignments/memory", "--submission", folder, *exercises, asked).out
    places = set(re.findall(r"^(\S+\.py):\d+: ", text, re.MULTILINE))
    assert {Path(place).name for place in places} == {"test_parameters.py", "test_state.py", "state.py"}
    assert "and it returned an int; write `return ModelShape(layers=..., hidden=...)`" in text
    assert "bf16_update_lost raised ZeroDivisionError" in text
    assert "direct cause" not in text


def test_other_tests_are_left_alone(checkout):
    done = checkout.pytest("tests/grader/test_printable.py", "-q")
    assert done.code == 0
    assert re.search(r"^\d+ passed", done.out, re.MULTILINE)
    assert "points" not in done.out.splitlines()[-1]


@pytest.mark.parametrize(
    ("copy", "work"), [("memory", "{parent}"), ("my-week-1", "DIR, your files in DIR/memory")]
)
def test_checks_in_a_copied_folder_end_in_one_line_with_the_remedy(checkout, tmp_path, copy, work):
    shutil.copytree(checkout.folder / "assignments" / "memory", tmp_path / copy)
    done = replace(checkout, folder=tmp_path / copy).pytest("-q")
    lines = [line for line in done.text.splitlines() if line.strip() and not line.startswith("no tests ran")]
    assert done.code == 4
    assert lines == [
        f"ERROR: {tmp_path / copy}: a copy of the kit's checks, which run in the kit alone; in {checkout.folder}: "
        f"pytest assignments/memory --submission {work.format(parent=tmp_path)}"
    ]


def test_the_kits_own_checks_among_others_are_said_to_run_by_themselves(checkout):
    done = checkout.pytest("-q", "tests/grader/test_printable.py", "solutions/memory/hidden")
    assert done.code == 4
    assert "checks of submissions are run by themselves: pytest assignments/memory" in done.text
    assert "KeyError" not in done.text


def test_a_check_that_breaks_is_the_graders_fault_and_gives_no_expected_value_away(kit_copy):
    folder = kit_copy.folder
    tests = folder / "assignments" / "memory" / "test_parameters.py"
    tests.write_text(
        tests.read_text()
        + f'''

@pytest.mark.exercise("{ONE}")
def test_asserts_plainly(submission):
    """A claim."""
    assert submission.memory.shape_from_parameter_count(10**9) == 987654321
'''
    )
    done = kit_copy.pytest("assignments/memory", "--submission", "solutions", "--exercise", ONE)
    assert done.code == 1
    assert "grader error" in done.out
    assert "this check itself failed" in done.out
    assert "test_parameters.py, line" in done.out
    assert "987654321" not in done.text
    assert re.search(r"[\d.]+ pending", done.out)


def test_a_test_file_that_does_not_import_is_named_with_the_reason(kit_copy):
    tests = kit_copy.folder / "assignments" / "memory" / "test_parameters.py"
    tests.write_text("import nothing_of_that_name\n" + tests.read_text())
    reason = "test_parameters.py (ModuleNotFoundError: No module named 'nothing_of_that_name')"
    done = kit_copy.pytest("assignments/memory/test_parameters.py")
    assert done.code != 0
    assert f"tests cannot be collected: {reason}" in done.out
    asked = kit_copy.grader("next")
    assert asked.code == 2
    assert asked.err == f"grader: the visible tests cannot be run: {reason}\n"
