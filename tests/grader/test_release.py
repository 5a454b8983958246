"""The students' bundle: what is in it, what must not be, and that it works alone."""

import re
import shutil
import subprocess
import sys
import tomllib

import pytest

import grader
from grader.commands import doctor
from grader.commands.release import find_leaks
from grader.kit import Kit
from grader.sandbox.availability import Availability
from specs.assignment import assignment
from specs.traces import make_trace, write_trace

MISTAKES = {
    "memory.state_bytes_per_parameter": (
        "state.py",
        "no_master_copy",
        """
from specs import DTYPE_BYTES, StateBytes

def state_bytes_per_parameter(recipe):
    size = lambda d: DTYPE_BYTES[d] if d else 0
    gradients = size(recipe.gradients) + size(recipe.gradient_accumulation)
    moments = sum(map(size, recipe.moments))
    return StateBytes(weights=size(recipe.weights), gradients=gradients, master=0, moments=moments)
""",
    ),
    "memory.kv_cache_bytes": (
        "activations.py",
        "keys_without_values",
        """
from specs import DTYPE_BYTES, KvCacheBytes

def kv_cache_bytes(model, sequence, batch, dtype):
    attention = model.attention
    window = getattr(attention, "window", None)
    windowed = model.windowed_layers
    tokens = windowed * min(sequence, window or sequence) + (model.layers - windowed) * sequence
    keys = batch * tokens * attention.kv_heads * attention.head_dim * DTYPE_BYTES[dtype]
    return KvCacheBytes(keys=keys, values=0, latent=0, rotary_keys=0)
""",
    ),
    "memory.shape_from_parameter_count": (
        "parameters.py",
        "layers_truncated",
        """
from specs import ModelShape

def shape_from_parameter_count(parameters):
    layers = int((parameters / (12 * 128**2)) ** (1 / 3) + 1e-9)
    return ModelShape(layers=layers, hidden=128 * layers)
""",
    ),
}


def hint_of(root, mistake: str) -> str:
    """The hint as the mistake's file has it."""
    names: dict[str, object] = {}
    source = (root / "solutions" / "memory" / "mistakes" / f"{mistake}.py").read_text()
    start = source.index("HINT = ")
    exec(source[start : source.index("FAILS = ")], names)
    return str(names["HINT"])


def test_the_bundle_holds_what_students_need_and_nothing_else(bundle):
    tops = {path.name for path in bundle.folder.iterdir()}
    assert tops == {"specs", "grader", "kernels_ref", "assignments", "LICENSE", "README.md", "pyproject.toml"}
    assert (bundle.folder / "assignments" / "memory" / "wrong_values.json").is_file()
    assert {path.name for path in (bundle.folder / "kernels_ref").iterdir()} == {
        "__init__.py",
        "inputs.py",
        "mistaken.py",
        "naive.py",
        "shards",
        "sizes.py",
    }
    assert not [
        path
        for path in bundle.folder.rglob("*")
        if path.name in ("solutions", "hidden", "mistakes", "published")
    ]


def test_the_bundle_has_the_extras_that_its_commands_ask_for(bundle):
    """All but the instructor's, whose commands need the solutions or submissions."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in (bundle.folder / "grader").rglob("*.py"))
    asked = set(re.findall(r"pip install -e '\.\[(\w+)\]'", code)) - {"instructor"}
    project = tomllib.loads((bundle.folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert asked == {"kernels", "plots", "gpu"}
    assert asked <= set(project["optional-dependencies"])


def test_stubs_are_todo_in_the_bundle_and_without_a_terminal_the_whole_task_is_said(bundle):
    done = bundle.pytest("assignments/memory")
    assert done.code == 1, done.text
    assert done.err == ""
    assert "0 of 100 points" in done.out
    assert "Traceback" not in done.text
    for exercise in assignment("memory").exercises:
        line = next(line for line in done.out.splitlines() if f"memory.{exercise.id} " in line)
        if "torch" in exercise.needs:
            assert " needs torch " in line
        else:
            assert " todo " in line
            assert line.endswith(exercise.todo)


def test_solutions_earn_full_marks_with_nothing_but_the_core_installed(bundle, checkout):
    done = bundle.pytest("assignments/memory", "--submission", checkout.folder / "solutions")
    assert done.code == 0, done.text
    assert "100 of 100 points" in done.out
    assert "10 pending" in done.out
    line = next(line for line in done.out.splitlines() if "memory.checkpoint" in line)
    assert "needs torch" in line
    assert "pip install -e '.[kernels]'" in line


def test_hints_appear_for_three_mistakes_typed_in(bundle, checkout, tmp_path):
    work = tmp_path / "work"
    shutil.copytree(bundle.folder / "assignments", work)
    for file, _, code in MISTAKES.values():
        path = work / "memory" / file
        path.write_text(path.read_text() + code)
    done = bundle.pytest("assignments/memory", "--submission", work)
    assert done.code == 1
    for exercise, (_, mistake, _) in MISTAKES.items():
        hint = hint_of(checkout.folder, mistake)
        assert f"hint: {hint}" in done.out, f"{exercise}: {done.out}"


def test_every_word_of_the_command_works_in_the_bundle_or_says_what_it_needs(bundle):
    assert bundle.grader("next").out.startswith("memory.state_bytes_per_parameter")
    assert bundle.grader("hint", "memory.checkpoint").out.startswith("hint 1 of")
    for words in (("verify",), ("stubs",), ("release", "x"), ("grade", "assignments", "--out", "x")):
        done = bundle.grader(*words)
        assert done.code == 2
        assert "needs the instructor's kit" in done.err
        assert len(done.err.splitlines()) == 1


def test_a_trace_is_read_in_the_bundle_with_the_core_alone(bundle, checkout, tmp_path):
    assert (bundle.folder / "assignments" / "profiling" / "train_tiny.py").is_file()
    trace = write_trace(make_trace(1)[0], tmp_path / "run.json.gz")
    done = bundle.grader("trace", trace)
    assert done.code == 1
    assert done.out.startswith("todo: write classify_kernel in profiling/kernels.py")
    done = bundle.grader("trace", trace, "--submission", checkout.folder / "solutions")
    assert done.code == 0, done.text
    assert "fine: matmuls and attention take" in done.out
    assert "no picture: matplotlib is not installed" in done.out


def test_doctor_works_with_the_core_alone(bundle):
    done = bundle.grader("doctor")
    assert done.code == 0, done.text
    assert done.err == ""
    assert "a student's bundle" in done.out
    for line in done.out.splitlines():
        if line.split()[0] in ("torch", "triton", "interpreter", "ranks"):
            assert line.split()[1] == "missing"
    assert "the exercises in PyTorch and Triton need it: pip install -e '.[kernels]'\n" in done.out


def test_doctor_says_who_needs_what_is_missing(monkeypatch):
    monkeypatch.setattr(doctor, "available", lambda: Availability(False, "no bwrap", "install it", None))
    monkeypatch.setenv("PATH", "")
    assert doctor.sandbox().text == "no bwrap; install it (only `grader grade` needs it)"
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert doctor.gpu_lines() == [("gpu", False, "none here; only points for speed wait for one")]


def test_version_is_one_line(bundle):
    done = bundle.grader("--version")
    assert (done.code, done.out) == (0, f"rooflab {grader.__version__}\n")


def test_doctor_of_the_checkout_runs_a_kernel_in_the_interpreter(checkout):
    line = next(line for line in checkout.grader("doctor").out.splitlines() if "interpreter" in line)
    assert "runs a small bf16 kernel on the CPU" in line


@pytest.mark.parametrize("kind", ["full folder", "file", "unwritable"])
def test_a_folder_that_cannot_be_used_is_refused_before_any_work(checkout, tmp_path, kind):
    target = {"full folder": tmp_path, "file": tmp_path / "file", "unwritable": tmp_path / "file" / "below"}[
        kind
    ]
    (tmp_path / "file").write_text("mine")
    done = checkout.grader("release", target)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith(f"grader: {target}: ")
    assert (tmp_path / "file").read_text() == "mine"


def test_leaks_in_the_kit_are_found_and_nothing_is_released(kit_copy, tmp_path):
    memory = kit_copy.folder / "assignments" / "memory"
    secret = next(
        line.strip()
        for line in (kit_copy.folder / "solutions/memory/parameters.py").read_text().splitlines()
        if line.strip().startswith("return ModelShape(")
    )
    handout = memory / "README.md"
    handout.write_text((handout.read_text() if handout.is_file() else "") + f"\n    {secret}\n")
    (memory / "hidden").mkdir()
    (memory / "hidden" / "test_state.py").write_text("")
    (memory / "answers.md").symlink_to(kit_copy.folder / "solutions" / "memory" / "state.py")
    (memory / "draft.ipynb").write_text("{}")
    (memory / "draft.py").write_text("### BEGIN SOLUTION\n")
    (memory / "fast.cpython-311.pyc").write_bytes(b"\0")
    (memory / "__pycache__").mkdir(exist_ok=True)
    done = kit_copy.grader("release", tmp_path / "out")
    leaks = [line for line in done.out.splitlines() if line.startswith("LEAK")]
    assert done.code == 1, done.text
    for name in (
        "README.md: holds a line of memory/parameters.py",
        "hidden: no such",
        "answers.md: a link",
        "draft.ipynb: ",
        "draft.py: ",
    ):
        assert any(f"assignments/memory/{name}" in leak for leak in leaks), (name, leaks)
    assert done.out.splitlines()[-1] == "nothing was released"
    assert [path.name for path in tmp_path.iterdir()] == ["kit"]


def test_the_leak_check_finds_left_overs_that_copying_would_have_dropped(checkout, bundle, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(bundle.folder, copy, ignore=shutil.ignore_patterns("__pycache__", ".rooflab"))
    kit = Kit(checkout.folder, checkout.folder / "solutions")
    assert list(find_leaks(kit, copy)) == []
    planted = {
        "a.pyc": b"",
        "specs/b.so": b"",
        "__pycache__/c.txt": b"",
        ".git/config": b"",
        "mistakes/d.md": b"",
        "e.md": b"\xff\xfe",
    }
    for name, content in planted.items():
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_bytes(content)
    leaks = list(find_leaks(kit, copy))
    for name in ("a.pyc", "specs/b.so", "__pycache__", ".git", "mistakes"):
        assert any(leak.startswith(f"{name}") for leak in leaks), name


@pytest.mark.slow
def test_the_bundle_installs_from_the_index_and_runs(bundle, checkout, tmp_path):
    """The real thing: a fresh venv, pip, the index."""
    folder = tmp_path / "course"
    shutil.copytree(bundle.folder, folder, ignore=shutil.ignore_patterns("__pycache__", ".rooflab"))
    subprocess.run(["python3", "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "-e", folder], check=True, timeout=280)
    place = type(bundle)(folder, python)
    assert place.pytest("assignments/memory").out.count(" todo ") == 12
    for file, _, code in MISTAKES.values():
        path = folder / "assignments" / "memory" / file
        path.write_text(path.read_text() + code)
    done = place.pytest("assignments/memory")
    assert done.code == 1
    for _, mistake, _ in MISTAKES.values():
        assert f"hint: {hint_of(checkout.folder, mistake)}" in done.out
