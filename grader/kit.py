"""Where things are: the kit's folders, whoever installed it and wherever the command is started."""

import difflib
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from specs import gpus, models, recipes
from specs.assignment import Assignment, Exercise, assignment, assignments
from specs.schema import SpecError


class KitNotFound(RuntimeError):
    """No folder with `assignments/` around here; one line says where to run the command."""


@dataclass(frozen=True)
class Kit:
    """The folders of one checkout or one student's bundle."""

    root: Path
    solutions: Path
    only: tuple[str, ...] = ()
    """Assignments that are of interest; empty for all."""

    @property
    def assignments(self) -> Path:
        """Handouts, stubs and visible tests."""
        return self.root / "assignments"

    @property
    def has_solutions(self) -> bool:
        """False in a student's bundle."""
        return self.solutions.is_dir()

    def visible_tests(self, name: str) -> list[Path]:
        """The test files that a student sees."""
        return sorted((self.assignments / name).glob("test_*.py"))

    def hidden_tests(self, name: str) -> list[Path]:
        """The test files that only official runs collect; none in a student's bundle."""
        return sorted((self.solutions / name / "hidden").glob("test_*.py"))

    def editable(self) -> dict[str, tuple[str, ...]]:
        """The editable files of every assignment that this kit has."""
        return {name: spec.files for name, spec in self.available().items()}

    def available(self) -> dict[str, Assignment]:
        """The assignments of interest whose folder is here, in teaching order."""
        return {
            name: spec
            for name, spec in assignments().items()
            if (self.assignments / name).is_dir() and (not self.only or name in self.only)
        }

    def sha256(self) -> str:
        """Over all that decides a grade: specs, checks, oracles, engine. A change means: grade again."""
        digest = hashlib.sha256()
        for folder in (self.root / "specs", self.root / "grader", self.root / "kernels_ref", self.solutions):
            for path in sorted(folder.rglob("*")):
                if path.suffix in {".py", ".yaml"} and "__pycache__" not in path.parts:
                    _add(digest, path.relative_to(folder.parent), path)
        for name in replace(self, only=()).available():
            for path in self.visible_tests(name):
                _add(digest, path.relative_to(self.root), path)
        return digest.hexdigest()


def _add(digest: "hashlib._Hash", name: Path, path: Path) -> None:
    content = path.read_bytes()
    digest.update(f"{name.as_posix()}\0{len(content)}\0".encode())
    digest.update(content)


def find_kit(start: Path | None = None, solutions: Path | None = None) -> Kit:
    """The kit around `start` (the working folder by default), else the one that this package was loaded from.

    Raises:
        KitNotFound: neither has an `assignments` folder, or `solutions` was given and is no folder.
    """
    if solutions is not None and not solutions.is_dir():
        raise KitNotFound(
            f"{solutions}: no such folder, pass the folder that holds <assignment>/hidden with --solutions"
        )
    here = (start or Path.cwd()).resolve()
    package_parent = Path(__file__).resolve().parent.parent
    for candidate in (here, *here.parents, package_parent):
        # A bundle that a notebook installed has its assignments beside the packages, and no project.
        is_kit = (candidate / "pyproject.toml").is_file() or candidate == package_parent
        if (candidate / "assignments").is_dir() and is_kit:
            return Kit(candidate, (solutions or candidate / "solutions").resolve())
    raise KitNotFound(f"{here}: no assignments/ here or above, run this inside the kit's folder")


def check_specs() -> None:
    """Read every spec file (0.06 s), so that a broken one is named before any work is judged by it.

    Raises:
        SpecError: a file is broken; the message names it and the field.
    """
    for read in (assignments, recipes, gpus, models):
        read()


def no_work_in(root: Path, editable: Mapping[str, Sequence[str]]) -> str:
    """Why a folder is nobody's work on these assignments, in a few words; empty where it is."""
    if not root.is_dir():
        return "no such folder"
    if not any((root / name / file).is_file() for name, files in editable.items() for file in files):
        example = next((f"{name}/{files[0]}" for name, files in editable.items()), "memory/state.py")
        return f"holds no <assignment>/<file>, such as {example}"
    return ""


def find_exercise(name: str) -> tuple[Assignment, Exercise]:
    """The exercise called `memory.parameter_count`; the bare `parameter_count` does where only one has it.

    Raises:
        SpecError: no such exercise, or several; the message has the nearest names, or lists an assignment's.
    """
    known = {
        f"{spec.name}.{each.id}": (spec, each) for spec in assignments().values() for each in spec.exercises
    }
    if name in known:
        return known[name]
    same = [full for full in known if full.partition(".")[2] == name]
    if len(same) == 1:
        return known[same[0]]
    if same:
        raise SpecError(f"exercise {name!r}: several assignments have one, choose {' or '.join(same)}")
    if name in assignments():
        first = next(full for full in known if full.startswith(f"{name}."))
        raise SpecError(f"exercise {name!r}: that is an assignment; name an exercise of it, such as {first}")
    spelled = {full.partition(".")[2]: full for full in known} | {full: full for full in known}
    near = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=0.7)
    if near:
        raise SpecError(f"exercise {name!r}: no such exercise, did you mean {spelled[near[0]]}?")
    head, dot, tail = name.partition(".")
    if dot:
        owner = assignment(head)
        return owner, owner.exercise(tail)  # one of the two says what there is
    nearest = difflib.get_close_matches(name.lower(), spelled, n=3, cutoff=0.0)
    shown = ", ".join(dict.fromkeys(spelled[each] for each in nearest))
    raise SpecError(
        f"exercise {name!r}: no such exercise; nearest are {shown}; a table in assignments/NAME/README.md has all"
    )
