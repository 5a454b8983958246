"""Places to run the kit's commands in: a copy to break, a student's folder, a Python with the core alone."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from grader.calls import submission as submissions
from specs.assignment import Assignment, _read
from tests.grader.small_kernels import KIT

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("specs", "grader", "kernels_ref")
collect_ignore = ["kernel_kit"]  # an assignment to be laid over a copy of the kit
JUNK = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")


@dataclass(frozen=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Both outputs together."""
        return self.out + self.err


@dataclass(frozen=True)
class Place:
    """A folder to run commands in, and the Python that runs them."""

    folder: Path
    python: Path = Path(sys.executable)
    packages_from: Path | None = None
    """Where the kit's packages are imported from; None for where this Python finds them."""

    def grader(self, *arguments: str | Path) -> Done:
        """Run the `grader` command."""
        return self._run("-m", "grader.cli", *arguments)

    def pytest(self, *arguments: str | Path) -> Done:
        """Run pytest as somebody would type it."""
        return self._run("-m", "pytest", "-p", "no:cacheprovider", *arguments)

    def _run(self, *arguments: str | Path) -> Done:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
        environment = {**kept, "COLUMNS": "100", "PYTHONDONTWRITEBYTECODE": "1"}
        if self.packages_from is not None:
            environment["PYTHONPATH"] = str(self.packages_from)
        command = [str(self.python), "-P", *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def checkout() -> Place:
    """The kit as it is here."""
    return Place(ROOT)


@pytest.fixture
def kit_copy(tmp_path: Path) -> Place:
    """A copy of the whole kit, to be broken."""
    folder = tmp_path / "kit"
    for name in (*PACKAGES, "assignments", "solutions"):
        shutil.copytree(ROOT / name, folder / name, ignore=JUNK)
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return Place(folder, packages_from=folder)


Student = Callable[..., Path]


@pytest.fixture(scope="module")
def student(tmp_path_factory: pytest.TempPathFactory) -> Student:
    """Makes a submission: the solutions, with code put at the end of files, `state="def ..."`."""

    def make(**endings: str) -> Path:
        folder = tmp_path_factory.mktemp("student")
        (folder / "memory").mkdir()
        for path in (ROOT / "solutions" / "memory").glob("*.py"):
            source = path.read_text(encoding="utf-8")
            (folder / "memory" / path.name).write_text(
                source + "\n\n" + endings.get(path.stem, ""), encoding="utf-8"
            )
        return folder

    return make


def core_distributions() -> Iterator[importlib.metadata.Distribution]:
    """What a student's `pip install` brings: the core dependencies and theirs."""
    project = importlib.metadata.distribution("rooflab")
    queue = [Requirement(line) for line in project.requires or ()]
    seen: set[str] = set()
    while queue:
        requirement = queue.pop()
        if requirement.name.lower() in seen or (
            requirement.marker and not requirement.marker.evaluate({"extra": ""})
        ):
            continue
        seen.add(requirement.name.lower())
        found = importlib.metadata.distribution(requirement.name)
        queue += [Requirement(line) for line in found.requires or ()]
        yield found


@pytest.fixture(scope="session")
def light_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the core dependencies and nothing else: no torch, no psutil, no rooflab."""
    folder = tmp_path_factory.mktemp("light")
    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for distribution in core_distributions():
        for top in {Path(str(file)).parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(distribution.locate_file(top))))
    return folder / "bin" / "python"


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory, light_python: Path) -> Place:
    """A released bundle, installed as `pip install -e` does into the light Python: it sees no checkout."""
    folder = tmp_path_factory.mktemp("released") / "course"
    done = Place(ROOT).grader("release", folder)
    assert done.code == 0, done.text
    site = next(light_python.parent.parent.glob("lib/python*/site-packages"))
    information = site / "rooflab-0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: rooflab\nVersion: 0\n")
    (information / "entry_points.txt").write_text("[pytest11]\nrooflab = grader.plugin\n")
    (site / "rooflab.pth").write_text(f"{folder}\n")
    return Place(folder, light_python)


@pytest.fixture(scope="module")
def kernel_spec() -> Assignment:
    """The assignment in `kernel_kit`."""
    return _read(KIT / "specs" / "assignments" / "kernel_kit.yaml")


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a worker sees of the kit."""
    from grader.calls.official import installed_specs, stage  # which only Linux can import

    return stage(installed_specs(), tmp_path_factory.mktemp("staged"))


@pytest.fixture(scope="module")
def with_assignment(kernel_spec: Assignment) -> Iterator[None]:
    """`kernel_kit` in the place of all assignments."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(submissions, "assignment", lambda name: kernel_spec)
        patch.setattr("grader.calls.local_lanes.assignments", lambda: {"kernel_kit": kernel_spec})
        yield
