"""`grader kernel` on files that have nothing to do with the course. Each run costs seconds: few runs, much asked."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.commands.kernel import run
from grader.refusal import INTERRUPTED, USAGE_ERROR, BadInput
from tests.grader import kernel_files

pytest.importorskip("triton")
pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 300
COMMAND = [sys.executable, "-P", "-m", "grader.cli", "kernel"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files."""
    path = tmp_path_factory.mktemp("kernels")
    kernel_files.write(path)
    return path


def _environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    return {**kept, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **more}


def _kernel(*arguments: str, text: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=_environment(**more),
        check=False,
    )


def test_json_is_all_there_is_on_standard_output(folder):
    """The file imports a sibling, asks for a device and its SMs at import, and the function prints."""
    done = _kernel(f"{folder}/add.py:add", "--json", "--dtype", "bf16")
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert set(report) == {
        "format",
        "function",
        "gpu",
        "faults",
        "errors",
        "left_out",
        "interpreted",
        "compiled",
        "by_shapes",
        "by_meter",
    }
    assert "printed by the function" in done.stderr
    assert report["faults"] == report["errors"] == []
    (launch,) = report["interpreted"]["evidence"]["launches"]
    assert [tensor["tensor"] for tensor in launch["tensors"]] == ["x", "y", "out"]
    (compiled,) = report["compiled"]["compiled"]
    assert compiled["compiles"]
    assert compiled["target"] == "sm_90"
    assert compiled["registers"] > 0
    assert report["by_shapes"]["bytes"] == 3 * 2 * 2148
    assert report["by_meter"]["time_s"] == pytest.approx(report["by_shapes"]["time_s"])


def test_a_fault_at_sizes_that_no_block_divides_is_found_without_asking(folder):
    """The first sizes are multiples of the block; exit code 1, plain text, 100 columns."""
    done = _kernel(f"{folder}/unmasked.py:double")
    assert done.returncode == 1, done.stderr
    assert "OUT-OF-BOUNDS LOAD" in done.stdout
    assert "unmasked.py:11" in done.stdout
    assert "mask" in done.stdout
    assert "1 fault" in done.stdout.splitlines()[-1]
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert len(done.stdout.splitlines()) <= 40


def test_what_does_not_compile_is_shown_at_its_line_beside_the_interpreted_part(folder):
    """A global that the compiler refuses and the interpreter reads."""
    done = _kernel(f"{folder}/uncompiled.py:copy", "--shape", "128")
    assert done.returncode == 1, done.stderr
    assert "uncompiled.py:14" in done.stdout
    assert "cannot read the global FACTOR" in " ".join(done.stdout.split())
    assert "256 B" in done.stdout  # read: 128 elements of bf16
    assert "1 launch that cannot run on sm_90" in done.stdout


def test_a_card_that_cannot_be_compiled_for_costs_one_line(folder):
    """Blackwell: traffic and bounds are there."""
    done = _kernel(f"{folder}/add.py:add", "--gpu", "b200-sxm", "--shape", "512")
    assert done.returncode == 0, done.stderr
    assert "no compile report for b200-sxm (sm_100)" in done.stdout
    assert "add_kernel  2 programs" in done.stdout
    assert "times are lower bounds for b200-sxm" in done.stdout


def test_a_breakpoint_works_in_debug_and_finds_its_input(folder, tmp_path):
    """PYTHONBREAKPOINT names a function that notes where it was called."""
    (tmp_path / "noting.py").write_text(
        "import sys\ndef note():\n    print('stopped in', sys._getframe(1).f_code.co_name)\n"
    )
    done = _kernel(
        f"{folder}/add.py:debugged",
        "--debug",
        "--shape",
        "512",
        text="hello\n",
        PYTHONBREAKPOINT="noting.note",
        PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path}",
    )
    assert done.returncode == 0, done.stderr
    assert "stopped in debugged" in done.stdout
    assert "typed: hello" in done.stdout
    assert "no fault found" in done.stdout
    assert "stopped" not in done.stderr  # nor in the process that compiles


def test_a_file_that_insists_on_a_gpu_is_told_so(folder):
    """assert torch.cuda.is_available() at import."""
    done = _kernel(f"{folder}/cuda_only.py:anything")
    assert done.returncode == 1, done.stderr
    assert "NEEDS CUDA" in done.stdout
    assert "cuda_only.py:3" in done.stdout


def test_ctrl_c_ends_a_loop_without_end_and_its_process(folder, tmp_path):
    """No traceback, exit code 130, the child gone."""
    marker = tmp_path / "pid"
    started = subprocess.Popen(
        [*COMMAND, f"{folder}/add.py:endless", "--shape", "8"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(MARKER=str(marker)),
        start_new_session=True,
        # A suite that was started in the background hands down an ignored SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        until = time.monotonic() + PATIENCE_S
        while not (marker.is_file() and marker.read_text().strip()):
            assert started.poll() is None, "the command ended by itself"
            assert time.monotonic() < until, "the function never ran"
            time.sleep(0.1)
        os.killpg(started.pid, signal.SIGINT)
        out, err = started.communicate(timeout=PATIENCE_S)
    finally:
        started.kill()
        started.wait()
    assert started.returncode == INTERRUPTED
    assert "Traceback" not in err
    assert "interrupted" in err
    assert out == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(marker.read_text()), 0)


@pytest.mark.parametrize("hidden", ["torch", "triton"])
def test_without_triton_it_says_that_it_needs_linux(folder, tmp_path, hidden):
    """One line, exit code 2, nothing started."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {hidden!r}:\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )
    done = _kernel(f"{folder}/add.py:add", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert done.returncode == USAGE_ERROR
    assert "needs Linux with torch and triton" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def _refused(target: str, *, shapes=(), arguments=(), dtype=None, card="h100-sxm") -> str:
    with pytest.raises(BadInput) as caught:
        run(target, shapes, arguments, [], dtype, card, backward=False, as_json=False, debug=False)
    return str(caught.value)


def test_wrong_words_on_the_command_line_are_refused_before_anything_starts(folder):
    """Each in one line that says what to write."""
    assert "no such file" in _refused(f"{folder}/none.py:f")
    assert "choose one of fp32, fp16, bf16" in _refused(f"{folder}/add.py:add", dtype="int3")
    assert "give sizes" in _refused(f"{folder}/add.py:add", shapes=["x=0"])
    assert "give a name and a value" in _refused(f"{folder}/add.py:add", arguments=["causal"])
    assert "h100-sxm" in _refused(f"{folder}/add.py:add", card="h100")
    assert "NVIDIA cards only" in _refused(f"{folder}/add.py:add", card="mi300x")


def test_a_file_without_a_function_is_answered_with_those_that_it_has(folder):
    """Found by the file's text: nothing is imported."""
    assert "add.py:add" in _refused(f"{folder}/add.py")
    assert "unmasked.py has double" in _refused(f"{folder}/unmasked.py:")
