"""A replaced hook, mended part of triton or function of the recorder is noticed: `changed` says so."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import json
import torch
import triton.runtime.interpreter as tritons
from triton._C.libtriton import interpreter as c_code
from grader.kernels import recorder
from grader.kernels.recorder import causes, hooks, launches, views

recorder.install()
said = {"untouched": recorder.changed()}

def tampered(name, owner, attribute, value):
    before = vars(owner)[attribute]
    setattr(owner, attribute, value)
    said[name] = recorder.changed()
    setattr(owner, attribute, before)
    said[name + ", put back"] = recorder.changed()

def nothing(*_):
    pass

tampered("dot", tritons.InterpreterBuilder, "create_dot", nothing)
tampered("exp", tritons.InterpreterBuilder, "create_exp", nothing)
tampered("load", c_code, "load", nothing)
tampered("atomic", tritons.InterpreterBuilder, "create_atomic_rmw", nothing)
tampered("launch", tritons.GridExecutor, "__call__", nothing)
tampered("sentence", causes, "outside", nothing)
tampered("method", launches.LaunchRecord, "load", nothing)
tampered("figure", views.View, "unique_read_bytes", 0)
code = causes.unwritten.__code__
causes.unwritten.__code__ = nothing.__code__
said["code"] = recorder.changed()
causes.unwritten.__code__ = code

def stop_listening():
    hooks.listening.launch = None

recorder.call_recorded(stop_listening, (), {})
said["stopped during the call"] = recorder.changed()
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said() -> dict[str, bool]:
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CHILD]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answers: dict[str, bool] = json.loads(done.stdout.splitlines()[-1])
    return answers


def test_an_untouched_recorder_has_not_changed(said: dict[str, bool]) -> None:
    """Before anything, and after each thing was put back."""
    assert not said["untouched"]
    assert not any(answer for name, answer in said.items() if name.endswith("put back"))


@pytest.mark.parametrize(
    "part",
    [
        "dot",
        "exp",
        "load",
        "atomic",
        "launch",
        "sentence",
        "method",
        "figure",
        "code",
        "stopped during the call",
    ],
)
def test_a_replaced_part_is_noticed(said: dict[str, bool], part: str) -> None:
    """Hooks on triton, functions, methods, properties, a function's code, and listening itself."""
    assert said[part]
