"""An assignment with Triton kernels through the kit's own commands: self-check, grading, proof, and without triton."""

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grader.report import Outcome, read_report
from grader.sandbox import available
from tests.grader.conftest import JUNK, PACKAGES, ROOT, Place

KERNEL_KIT = Path(__file__).parent / "kernel_kit"
EXERCISES = [f"kernel_kit.{name}" for name in ("add", "add_ragged", "double", "row_sums")]
ONLY = [part for name in EXERCISES for part in ("--only", name)]

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="triton needs Linux")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A kit of two assignments: memory, and the two small kernels."""
    folder = tmp_path_factory.mktemp("kernels") / "kit"
    for name in PACKAGES:
        shutil.copytree(ROOT / name, folder / name, ignore=JUNK)
    for spec in (folder / "specs" / "assignments").glob("*.yaml"):
        if spec.stem != "memory":
            spec.unlink()
    for name in ("assignments", "solutions"):
        shutil.copytree(ROOT / name / "memory", folder / name / "memory", ignore=JUNK)
    shutil.copy(ROOT / "assignments" / "README.md", folder / "assignments")
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(KERNEL_KIT, folder, ignore=JUNK, dirs_exist_ok=True)
    made = Place(folder, packages_from=folder)
    done = made.grader("stubs")
    assert "wrote assignments/kernel_kit/vector.py" in done.out, done.text
    return made


@on_linux
def test_a_self_check_runs_kernels_and_gives_the_solution_everything(place):
    done = place.pytest("assignments/kernel_kit", "--submission", "solutions")
    assert "25 of 25 points" in done.out, done.text


@on_linux
def test_untouched_stubs_are_to_be_written_inside_kernels_too(place):
    done = place.pytest("assignments/kernel_kit")
    lines = [line for line in done.out.splitlines() if line.startswith("  kernel_kit.")]
    assert [line.split()[1] for line in lines] == ["todo"] * 4, done.text
    assert "0 of 25 points" in done.out


UNMASKED = "tl.load(x_ptr + at, mask=inside)", "tl.load(x_ptr + at)"


@on_linux
def test_an_official_grading_gives_the_solution_everything_and_names_a_fault(place, tmp_path):
    for name, change in (("right", ("", "")), ("unmasked", UNMASKED)):
        shutil.copytree(place.folder / "solutions" / "kernel_kit", tmp_path / "in" / name / "kernel_kit")
        for folder in ("hidden", "mistakes"):
            shutil.rmtree(tmp_path / "in" / name / "kernel_kit" / folder)
        path = tmp_path / "in" / name / "kernel_kit" / "vector.py"
        path.write_text(path.read_text().replace(*change, 1))
    level = ["--isolation", "sandbox" if available().ok else "process"]
    done = place.grader("grade", *(tmp_path / "in").iterdir(), "--out", tmp_path / "out", *level, *ONLY)
    assert done.code == 0, done.text
    right, wrong = (read_report(tmp_path / "out" / name / "report.json") for name in ("right", "unmasked"))
    assert (right.points, right.pending_points) == (25, 0)
    ragged = next(each for each in wrong.exercises if each.id == "kernel_kit.add_ragged")
    assert ragged.outcome is Outcome.FAILED
    visible = next(check for check in ragged.checks if not check.hidden)
    hidden = next(check for check in ragged.checks if check.hidden)
    assert "tl.load(x_ptr + at)" in visible.message
    assert hidden.message.startswith("the kernel add_kernel loads from outside of a tensor")
    assert {check.mistake for check in ragged.checks} == {"kernel_kit.add_ragged.tail_unmasked"}


@on_linux
def test_the_proof_holds_for_kernels(place):
    done = place.grader("verify", *ONLY)
    assert "verified: everything holds" in done.out, done.text
    assert "5 mistakes" in done.out


# ---- without triton

HIDE = """
import importlib.machinery as machinery

found = machinery.PathFinder.find_spec


def without_triton(finder, name, path=None, target=None):
    return None if name.partition(".")[0] == "triton" else found(name, path, target)


machinery.PathFinder.find_spec = classmethod(without_triton)
"""


@pytest.fixture
def run_without_triton(place: Place, tmp_path: Path) -> Callable[..., str]:
    """Runs a Python command in a place where triton is not installed; its output."""
    (tmp_path / "sitecustomize.py").write_text(HIDE)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{place.folder}", "COLUMNS": "100"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-P", *arguments],
            cwd=place.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        return done.stdout + done.stderr

    return run


def test_without_triton_kernels_are_pending_and_all_else_works(run_without_triton):
    text = run_without_triton(
        "-m", "pytest", "-p", "no:cacheprovider", "assignments", "--submission", "solutions"
    )
    words = {line.split()[0]: line for line in text.splitlines() if line.startswith("  kernel_kit.")}
    for name in EXERCISES[:3]:
        assert "needs Linux" in words[name], text
        assert "needs triton, which is not installed here: pip install" in words[
            name
        ] or not sys.platform.startswith("linux")
    assert "passed" in words["kernel_kit.row_sums"]
    assert "20 pending" in text
    assert text.count("passed") > 10


@on_linux
def test_without_triton_the_proof_says_what_it_did_not_try(run_without_triton):
    text = run_without_triton("-m", "grader.cli", "verify", *ONLY)
    for name in ("tail_unmasked", "kernel_kit.add_ragged"):
        assert f"not tried: {name} (kernel_kit) needs torch and triton" in text
    assert [line for line in text.splitlines() if line.startswith("WRONG") and "official" not in line] == []


def test_a_bundle_stores_no_wrong_value_of_a_kernel_and_hints_by_symptom(place, tmp_path):
    if not sys.platform.startswith("linux"):
        pytest.skip("triton needs Linux")
    done = place.grader("release", tmp_path / "course")
    assert done.code == 0, done.text
    source = (KERNEL_KIT / "solutions/kernel_kit/mistakes/tail_unmasked.py").read_text()
    hint = ast.literal_eval(source.partition("HINT = ")[2].partition("\nFAILS")[0])
    stored = json.loads((tmp_path / "course/assignments/kernel_kit/wrong_values.json").read_text())
    assert set(stored["values"]) == {"kernel_kit.row_sums"}
    bundle = replace(place, folder=tmp_path / "course", packages_from=tmp_path / "course")
    (bundle.folder / "assignments/kernel_kit/vector.py").write_text(
        (KERNEL_KIT / "solutions/kernel_kit/vector.py").read_text().replace(*UNMASKED)
    )
    done = bundle.pytest("assignments/kernel_kit", "--exercise", "kernel_kit.add_ragged")
    assert f"hint: {hint}" in " ".join(done.out.split()), done.text
