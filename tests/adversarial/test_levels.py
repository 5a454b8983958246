"""What the levels below the sandbox lose stays in the container: the attack ends its own grading and nothing else."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from grader.sandbox import Level
from tests.adversarial.case import load_cases
from tests.adversarial.container import CHECKOUT, GRADING, ContainerFailed, run_inside, why_not
from tests.adversarial.inside import ORDINARY
from tests.adversarial.levels import copy_checkout, grade_alone, grade_levels
from tests.adversarial.table import Line

pytestmark = [pytest.mark.attacks, pytest.mark.slow]

WITHSTOOD = [
    ("process", "stdout_forge/in_call"),
    ("process", "ppid_proc/memory"),
    ("process", "ppid_proc/ptrace"),
    ("process", "honest_text/windows"),
    ("user", "stdout_forge/in_call"),
    ("user", "ppid_proc/kills_everybody"),
    ("user", "read_solution/of_this_grading"),
    ("user", "namespace_escape/unshare_and_mount"),
    ("user", "honest_text/windows"),
]
LOST = [
    ("process", "read_solution/of_this_grading"),
    ("process", "network/host_loopback"),
    ("user", "network/host_loopback"),
    ("user", "namespace_escape/segments"),
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the kit and the suite; skips, saying so, where there can be no container."""
    if why_not():
        pytest.skip(f"the levels below the sandbox were NOT tried: {why_not()}")
    return copy_checkout(tmp_path_factory.mktemp("levels") / "checkout")


@pytest.fixture
def bystander() -> Iterator[psutil.Popen]:
    """A process of this machine, of the user that grades inside at the level `process`."""
    with psutil.Popen(["sleep", "600"], user=ORDINARY, group=ORDINARY, extra_groups=[]) as process:
        yield process
        process.kill()


def graded(checkout: Path, level: Level, name: str) -> Line:
    case_name, _, variant_name = name.partition("/")
    (case,) = (each for each in load_cases() if each.name == case_name)
    (variant,) = (each for each in case.variants if each.name == variant_name)
    return grade_alone(checkout, case, variant, level)


def statement(checkout: Path, text: str, longest_s: float = 60.0) -> str | None:
    """What a line of Python prints inside, before the time that it took."""
    return run_inside(checkout, "timeit", ["-n1", "-r1", text], longest_s)


@pytest.mark.parametrize(("level", "name"), WITHSTOOD)
def test_withstands(checkout: Path, level: Level, name: str) -> None:
    line = graded(checkout, level, name)
    assert line.withstood, line.differs
    assert line.verdict == "ok", line.differs


@pytest.mark.parametrize(("level", "name"), LOST)
def test_does_not_withstand_and_the_table_says_so(checkout: Path, level: Level, name: str) -> None:
    line = graded(checkout, level, name)
    assert not line.withstood
    assert line.earned > 0


def test_who_kills_every_process_ends_this_grading_and_nothing_of_this_machine(
    checkout: Path, bystander: psutil.Popen
) -> None:
    line = graded(checkout, "process", "ppid_proc/kills_everybody")
    # It kills its judge first, and dies with it now and then before it gets to the rest.
    assert line.ended_the_grader or line.outcome == "not graded", line
    assert line.earned == 0
    assert bystander.is_running()
    assert bystander.poll() is None


def test_nothing_of_this_machine_can_be_written_or_seen(checkout: Path) -> None:
    places = (
        "/",
        "/usr",
        "/etc",
        "/dev",
        "/root",
        "/proc/sys/kernel/core_pattern",
        str(CHECKOUT),
        str(GRADING),
    )
    looks = f"import os; print([path for path in {places} if os.access(path, os.W_OK)], end=';')"
    assert (statement(checkout, looks) or "").startswith(f"['{GRADING}'];")
    counts = "import os; print(sum(map(str.isdigit, os.listdir('/proc'))), os.listdir('/tmp'), end=';')"
    processes, _, rest = (statement(checkout, counts) or "").partition(" ")
    assert int(processes) <= 3
    assert "pytest" not in rest.partition(";")[0]


def test_one_that_takes_too_long_is_ended_with_all_its_processes(checkout: Path) -> None:
    mark = f"rooflab-{time.monotonic_ns()}"
    forks = f"import os, time; [os.fork() for _ in range(4)]; time.sleep(600); '{mark}'"
    assert statement(checkout, forks, longest_s=3) is None
    deadline = time.monotonic() + 10
    while (left := _with(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _with(mark: str) -> list[int]:
    return [
        each.pid for each in psutil.process_iter(["cmdline"]) if mark in " ".join(each.info["cmdline"] or ())
    ]


def test_a_module_that_fails_inside_is_an_error_here(checkout: Path) -> None:
    with pytest.raises(ContainerFailed, match="No module named no_such_module"):
        run_inside(checkout, "no_such_module", [], 60)


def test_lines_that_are_saved_are_not_graded_again(checkout: Path, tmp_path: Path) -> None:
    """Nor is anything else than a line lost by it."""
    (case,) = (each for each in load_cases() if each.name == "stdout_forge")
    some, saved, told = [replace(case, variants=case.variants[:1])], tmp_path / "lines.jsonl", []
    first = grade_levels(some, "process", 1, saved, told.append)
    assert told == first
    assert grade_levels(some, "process", 1, saved, told.append) == first
    assert len(told) == 1
