"""What a notebook's set-up cell installs where the kit is missing: the students' bundle, alone, with its checks."""

import subprocess
import sys
import zipfile

import pytest

from tests.course.conftest import KIT, run

pytestmark = [pytest.mark.course, pytest.mark.slow]

ANSWER = """
from specs import ModelShape

def shape_from_parameter_count(n):
    return ModelShape(layers=1, hidden=1)
"""
CELLS = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell({ANSWER!r}, store_history=True)
shell.run_cell("from grader.notebooks import check; import grader; print(grader.__file__)", store_history=True)
shell.run_cell('check("memory.shape_from_parameter_count")', store_history=True)
"""


def test_the_zipped_bundle_installs_without_torch_and_its_check_answers(tmp_path):
    said = run(KIT, "grader", "release", str(tmp_path / "bundle"))
    assert said.code == 0, said.err
    bundle = tmp_path / "rooflab-students.zip"
    with zipfile.ZipFile(bundle, "w") as archive:
        for path in sorted((tmp_path / "bundle").rglob("*")):
            archive.write(path, path.relative_to(tmp_path / "bundle"))
    place = tmp_path / "installed"
    # Without dependencies and without a build environment: the network is no part of this test.
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(place),
    ]
    subprocess.run([*pip, str(bundle)], check=True, capture_output=True)
    ended = subprocess.run(
        [sys.executable, "-c", CELLS],
        cwd=tmp_path,
        env={"PYTHONPATH": str(place), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(place) in ended.stdout, ended.stdout + ended.stderr
    assert "memory.shape_from_parameter_count  failed" in ended.stdout
    assert not list(place.rglob("solutions"))
