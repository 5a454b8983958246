"""What can be checked of the image's recipe without a Docker daemon: what it names exists, and its command grades."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from grader.report import read_report
from tests import user_namespaces
from tests.adversarial.container import system_arguments, why_not
from tests.grader.grade_command import KIT, SAMPLES

pytestmark = pytest.mark.attacks

LINES = (KIT / "grader" / "runners" / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
IGNORED = (KIT / ".dockerignore").read_text().split()
ONLY = " --only memory.state_bytes_per_parameter"


def instruction(name: str) -> list[str]:
    return [line.removeprefix(f"{name} ") for line in LINES if line.startswith(f"{name} ")]


def command() -> list[str]:
    (line,) = instruction("CMD")
    return list(json.loads(line))


def test_what_is_installed_is_in_the_project_and_copied() -> None:
    (install,) = [line for line in instruction("RUN") if "pip install" in line]
    words = shlex.split(install)
    assert (KIT / words[words.index("-c") + 1]).is_file()
    extras = words[words.index("-e") + 1].removeprefix(".[").removesuffix("]").split(",")
    project = tomllib.loads((KIT / "pyproject.toml").read_text())["project"]
    assert set(extras) <= set(project["optional-dependencies"])
    needed = [
        project["readme"],
        *project["license-files"],
        "constraints.txt",
        "solutions",
        "assignments",
        "specs",
    ]
    assert [path for path in needed if not (KIT / path).exists() or path in IGNORED] == []


def test_no_submission_and_no_grade_goes_into_the_image() -> None:
    assert {"submissions", "grades", "reports", ".rooflab", ".git"} <= set(IGNORED)


def test_what_is_mounted_lies_below_a_folder_that_is_closed() -> None:
    (volumes,) = map(json.loads, instruction("VOLUME"))
    assert any("mkdir -m 700 /course" in line for line in instruction("RUN"))
    assert all(volume.startswith("/course/") for volume in volumes)
    usage = " ".join(line for line in LINES if line.startswith("#"))
    assert all(f":{volume}" in usage and volume in command()[-1] for volume in volumes)


@pytest.mark.slow
def test_its_command_grades_in_a_container_with_docker_s_capabilities(tmp_path: Path) -> None:
    """Neighbours' folders are open to everybody, as on a disk that is mounted, and lie below one that is not."""
    if why_not():
        pytest.skip(f"the image's command was NOT tried: {why_not()}")
    for name in ("amara-perfect", "chiara-half-done"):
        shutil.copytree(SAMPLES / name, tmp_path / "submissions" / name)
    (tmp_path / "grades").mkdir()
    kit = tmp_path / "kit"
    kit.mkdir()
    for part in ("specs", "kernels_ref", "grader", "solutions", "assignments"):
        shutil.copytree(KIT / part, kit / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(KIT / "pyproject.toml", kit)
    subprocess.run(["chmod", "-R", "go-rwx", str(kit)], check=True)
    subprocess.run(
        ["chmod", "-R", "go=rX", str(tmp_path / "submissions"), str(tmp_path / "grades")], check=True
    )
    done = subprocess.run(
        [
            *system_arguments(),
            *("--perms", "0755", "--dir", "/opt", "--symlink", os.path.realpath(sys.prefix), "/opt/venv"),
            *("--bind", str(kit), "/opt/rooflab", "--perms", "0700", "--dir", "/course"),
            *("--ro-bind", str(tmp_path / "submissions"), "/course/submissions"),
            *("--bind", str(tmp_path / "grades"), "/course/grades"),
            *(
                "--ro-bind",
                user_namespaces.__file__,
                "/course/user_namespaces.py",
                "--chdir",
                "/opt/rooflab",
                "--",
            ),
            *(sys.executable, "/course/user_namespaces.py", "seccomp", "0"),
            *(shutil.which("sh") or "/bin/sh", *command()[1:-1], command()[-1] + ONLY),
        ],
        # PYTHONPATH: the environment's own kit is the checkout, which is not there.
        env={"PATH": "/usr/bin:/bin", "HOME": "/root", "PYTHONPATH": "/opt/rooflab", "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of 2 graded; isolation: user" in done.stdout
    report = read_report(tmp_path / "grades" / "amara-perfect" / "report.json")
    assert (report.points, report.environment.isolation) == (10, "user")
    assert (tmp_path / "grades" / "course-seed").is_file()
