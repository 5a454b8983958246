"""The autograder that is uploaded to Gradescope, unpacked and run as Gradescope runs it, here."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.course.conftest import KIT, SAMPLES, run

pytestmark = pytest.mark.course


@pytest.fixture(scope="module")
def autograder(tmp_path_factory):
    root = tmp_path_factory.mktemp("autograder")
    said = run(KIT, "grader", "gradescope-zip", "memory", "--out", str(root / "upload.zip"))
    assert said.code == 0, said.err
    assert "Isolation: the sandbox where the container allows it" in said.out
    with zipfile.ZipFile(root / "upload.zip") as archive:
        for info in archive.infolist():
            path = Path(archive.extract(info, root / "source"))
            path.chmod(info.external_attr >> 16)
    (root / "venv").mkdir()
    (root / "venv" / "bin").symlink_to(Path(sys.executable).parent)
    return root


def graded(root, submission):
    shutil.rmtree(root / "submission", ignore_errors=True)
    shutil.copytree(submission, root / "submission")
    (root / "results" / "results.json").unlink(missing_ok=True)
    return subprocess.run(
        [str(root / "source" / "run_autograder")],
        env={**os.environ, "AUTOGRADER_ROOT": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_root_holds_setup_and_an_executable_and_nothing_of_other_assignments(autograder):
    source = autograder / "source"
    assert {path.name for path in source.iterdir()} == {"setup.sh", "run_autograder", "kit"}
    assert os.access(source / "run_autograder", os.X_OK)
    assert {path.name for path in (source / "kit" / "assignments").iterdir()} == {"memory"}
    assert "-e '.[kernels]'" in (source / "setup.sh").read_text()


def test_a_submission_gets_its_points_and_the_level_that_confined_it(autograder):
    ended = graded(autograder, SAMPLES / "amara-perfect")
    assert ended.returncode == 0, ended.stderr
    results = json.loads((autograder / "results" / "results.json").read_text(encoding="utf-8"))
    assert results["score"] == 120
    assert results["extra_data"]["isolation"] in ("sandbox", "process")
    assert f"isolation level: {results['extra_data']['isolation']}" in ended.stdout


def test_what_nobody_can_grade_leaves_no_results_and_so_no_zero(autograder, tmp_path):
    (tmp_path / "notes.txt").write_text("sorry")
    ended = graded(autograder, tmp_path)
    assert ended.returncode == 1
    assert not (autograder / "results" / "results.json").exists()
