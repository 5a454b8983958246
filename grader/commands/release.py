"""`grader release`: the students' bundle, and the check that nothing of the solutions is in it."""

import json
import os
import re
import shutil
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.calls.local_lanes import LocalLanes
from grader.checks.mistakes import Mistake, MistakeBroken, load_mistakes
from grader.checks.stored_mistakes import stored_form
from grader.commands.learn import visible_session
from grader.kit import Kit
from grader.printable import printable
from grader.refusal import BadInput
from grader.stubs import stubs
from specs.assignment import Assignment

# Of kernels_ref: inputs and right values. The kernels and tiles there are what students write.
_CHECKS_NEED = ("__init__.py", "inputs.py", "mistaken.py", "naive.py", "sizes.py")
_CHECKS_NEED_ALL_OF = ("shards",)
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "*.pyo", ".*", "published")
_LEFTOVERS = {".pyc", ".pyo", ".so", ".ipynb"}
_SHORTEST_TELLING_LINE = 24


def run(kit: Kit, directory: Path) -> int:
    """Write the bundle into `directory`, which must be new or empty; exit code 1 when there is a leak."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise BadInput(f"{printable(str(directory))}: is not empty, name a new folder")
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=".rooflab-release-", dir=directory.parent))
    except OSError as error:
        raise BadInput(f"{printable(str(directory))}: cannot be written ({error.strerror})") from None
    try:
        try:
            _fill(kit, building)
        except (MistakeBroken, ImportError, SyntaxError) as error:
            raise BadInput(f"the mistakes cannot be read: {error}") from None
        leaks = list(find_leaks(kit, building))
        if leaks:
            for leak in leaks:
                print(f"LEAK  {leak}")
            print("nothing was released")
            return 1
        if directory.exists():
            directory.rmdir()
        building.chmod(0o755)
        os.replace(building, directory)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    files = sum(path.is_file() for path in directory.rglob("*"))
    where = f"{', '.join(kit.available())} into {printable(str(directory))}"
    print(f"released {where}: {files} files, nothing of the solutions among them")
    return 0


def _fill(kit: Kit, bundle: Path) -> None:
    for package in ("specs", "grader"):
        shutil.copytree(kit.root / package, bundle / package, ignore=_LEFT_OUT, symlinks=True)
    (bundle / "kernels_ref").mkdir()
    for module in _CHECKS_NEED:
        shutil.copy(kit.root / "kernels_ref" / module, bundle / "kernels_ref" / module)
    for package in _CHECKS_NEED_ALL_OF:
        shutil.copytree(
            kit.root / "kernels_ref" / package, bundle / "kernels_ref" / package, ignore=_LEFT_OUT
        )
    for name, spec in kit.available().items():
        source, target = kit.assignments / name, bundle / "assignments" / name
        shutil.copytree(
            source,
            target,
            ignore=shutil.ignore_patterns("__pycache__", "*.pyc", ".*", *spec.files),
            symlinks=True,
        )
        mistakes = load_mistakes(kit.solutions, name)
        only = _told_by_values(spec, mistakes)
        calls = visible_session(kit, kit.solutions, [name], only).submission.calls_by_exercise
        lanes = LocalLanes(kit.solutions)
        try:
            stored = stored_form(mistakes, calls, lanes)
        finally:
            lanes.close()
        (target / "wrong_values.json").write_text(
            json.dumps(stored, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8"
        )
    for path, text in stubs(kit).items():
        (bundle / path.relative_to(kit.root)).write_text(text, encoding="utf-8", newline="\n")
    shutil.copy(kit.root / "LICENSE", bundle / "LICENSE")
    shutil.copy(kit.assignments / "README.md", bundle / "README.md")
    (bundle / "pyproject.toml").write_text(_pyproject(kit.root / "pyproject.toml"), encoding="utf-8")


def _told_by_values(spec: Assignment, mistakes: Sequence[Mistake]) -> list[str]:
    """Exercises of which wrong values are stored: in PyTorch those that symptoms do not tell apart.

    None in Triton and none on ranks: a call takes a tenth of a second, and there are a hundred calls and dozens of
    mistakes.
    """
    told = []
    for exercise in spec.exercises:
        name = f"{spec.name}.{exercise.id}"
        here = [mistake for mistake in mistakes if name in mistake.exercises]
        shown = Counter(symptom for mistake in here for symptom in mistake.symptoms)
        by_symptom = all(any(shown[symptom] == 1 for symptom in mistake.symptoms) for mistake in here)
        if not exercise.in_worker and not ("torch" in exercise.needs and by_symptom):
            told.append(name)
    return told


def _pyproject(path: Path) -> str:
    """The bundle's pyproject: the same package with what students need, and pytest's settings."""
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    lines = [
        "[build-system]",
        'requires = ["setuptools>=77"]',
        'build-backend = "setuptools.build_meta"',
        "",
        "[project]",
        *(
            f"{key} = {json.dumps(project[key])}"
            for key in ("name", "version", "description", "readme", "requires-python", "license")
        ),
        f"dependencies = {json.dumps(project['dependencies'])}",
        "",
        "[project.optional-dependencies]",
        *(
            f"{extra} = {json.dumps(project['optional-dependencies'][extra])}"
            for extra in ("kernels", "plots", "gpu")
        ),
        "",
        "[project.scripts]",
        'grader = "grader.cli:main"',
        "",
        "[project.entry-points.pytest11]",
        'rooflab = "grader.plugin"',
        "",
        "[tool.setuptools.packages.find]",
        # The assignments too: a notebook installs the bundle, and its checks are the visible tests.
        'include = ["specs*", "kernels_ref*", "grader*", "assignments*"]',
        "",
        "[tool.setuptools.package-data]",
        '"*" = ["*.yaml", "*.json", "*.md", "*.svg", "*.j2"]',
        "",
        "[tool.pytest.ini_options]",
        'addopts = ["--import-mode=importlib"]',
        'testpaths = ["assignments"]',
    ]
    return "\n".join(lines) + "\n"


def find_leaks(kit: Kit, bundle: Path) -> Iterator[str]:
    """One line for everything in `bundle` that a student must not have."""
    secrets = _telling_lines(kit)
    for path in sorted(bundle.rglob("*")):
        name = path.relative_to(bundle)
        if {"solutions", "hidden", "mistakes", "__pycache__", ".git", ".rooflab"} & set(name.parts):
            yield f"{name}: no such thing belongs to students"
        elif path.is_symlink():
            yield f"{name}: a link, which may lead anywhere"
        elif path.suffix in _LEFTOVERS:
            yield f"{name}: a compiled or generated left-over"
        elif path.is_file() and path.suffix in {".py", ".md", ".yaml", ".json", ".toml", ".txt"}:
            text = path.read_text(encoding="utf-8", errors="replace")
            if name.parts[0] == "assignments":
                found = {line.strip() for line in text.splitlines()} & secrets.keys()
                if found:
                    line = sorted(found)[0]
                    yield f"{name}: holds a line of {secrets[line]}: {line[:60]!r}"
            if re.search(r"^\s*### (BEGIN|END) (SOLUTION|HIDDEN)", text, re.MULTILINE):
                yield f"{name}: holds a solution marker"


def _telling_lines(kit: Kit) -> dict[str, str]:
    """Lines that solutions, hidden tests and mistakes have, and neither a stub nor a visible test."""
    visible = [
        path.read_text(encoding="utf-8") for name in kit.available() for path in kit.visible_tests(name)
    ]
    public = {line.strip() for text in (*stubs(kit).values(), *visible) for line in text.splitlines()}
    secrets: dict[str, str] = {}
    for name in kit.available():
        for path in sorted((kit.solutions / name).rglob("*.py")):
            telling = path.parent.name == "hidden"
            for raw in path.read_text(encoding="utf-8").splitlines():
                line = raw.strip()
                telling_here = telling or line.startswith(("return ", "yield ")) or " = " in line
                if (
                    telling_here
                    and len(line) >= _SHORTEST_TELLING_LINE
                    and line not in public
                    and not line.startswith(("import ", "from ", "#", "@"))
                ):
                    secrets[line] = path.relative_to(kit.solutions).as_posix()
    return secrets
