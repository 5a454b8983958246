"""The training run of the profiling assignment, really profiled on the CPU: each variant gets its remedy."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "assignments" / "profiling" / "train_tiny.py"
VARIANTS = {"fine": [], "fuse": ["--unfused-optimizer"], "loader": ["--slow-loader"]}
RUN_ALL = """
import json, runpy, sys
script, variants = sys.argv[1:]
for name, words in json.loads(variants).items():
    sys.argv[1:] = [*words, "--device", "cpu", "--out", f"{name}.json.gz"]
    runpy.run_path(script, run_name="__main__")
"""


@pytest.fixture(scope="module")
def traced(tmp_path_factory) -> Path:
    """A folder with the traces of all variants, made in one process: importing torch takes longer than they do."""
    folder = tmp_path_factory.mktemp("traced")
    ran = subprocess.run(
        [sys.executable, "-c", RUN_ALL, str(SCRIPT), json.dumps(VARIANTS)],
        cwd=folder,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.count("now: grader trace") == 3
    return folder


@pytest.mark.parametrize("remedy", VARIANTS)
def test_each_variant_gets_its_remedy(traced, remedy):
    words = [sys.executable, "-m", "grader.cli", "trace", f"{remedy}.json.gz", "--json"]
    words += ["--submission", str(ROOT / "solutions")]
    ran = subprocess.run(words, cwd=traced, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    (trace,) = json.loads(ran.stdout)["traces"]
    assert trace["cpu_only"]
    assert [step["step"] for step in trace["steps"]] == [3, 4, 5]
    # Over all steps: on a busy machine one of them may have stood still.
    total = {
        "fine": sum(step["matmul_s"] + step["attention_s"] for step in trace["steps"]),
        "fuse": sum(step["memory_bound_s"] for step in trace["steps"]),
        "loader": sum(step["idle_data_s"] for step in trace["steps"]),
        "launch_bound": sum(step["idle_host_s"] for step in trace["steps"]),
    }
    assert max(total, key=total.get) == remedy, total
    said = [step["remedy"]["name"] for step in trace["steps"]]
    assert said.count(remedy) >= 2, said


def test_without_torch_one_line_says_what_to_install(tmp_path):
    hidden = (
        "import runpy, sys; sys.modules['torch'] = None; runpy.run_path(sys.argv[1], run_name='__main__')"
    )
    ran = subprocess.run(
        [sys.executable, "-c", hidden, str(SCRIPT)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert ran.stderr == "needs torch, which is not installed here: pip install -e '.[kernels]'\n"
    assert list(tmp_path.iterdir()) == []
