"""What a case is: variants of an attack or of an unusual honest submission, and what must become of each.

A case is one file in `cases/`: a docstring (what it tries, where it was seen, what stops it), `ATTACK` or
`HONEST` with its name, and `VARIANTS`. An attack comes with wrong code, or with code that answers right only
once the attack got through: where it earns anything, the grader has been beaten.
"""

import importlib.util
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).parent / "cases"
STATE_BYTES = "memory.state_bytes_per_parameter"

Build = Callable[[Path, Path], Path]
"""(an empty folder, the solutions) to the submission that it made in the folder: a folder or a zip."""


@dataclass(frozen=True)
class Expected:
    """What must become of a submission."""

    outcome: tuple[str, ...] = ("failed",)
    """The exercise's outcome is one of these; a single one wherever the attack is deterministic."""
    points: float = 0.0
    """Earned, exactly."""
    says: str = ""
    """Words in a check's message."""
    never_in_hidden: str = ""
    """Words that no message of a hidden check holds."""
    notes: tuple[str, ...] = ()
    """Words in the notes on what was not copied."""
    refused: str = ""
    """Words of the one line with which the whole submission is refused; then nothing above counts."""


@dataclass(frozen=True)
class Variant:
    """One submission of a case."""

    name: str
    build: Build
    expect: Expected
    exercise: str = STATE_BYTES
    takes_s: float = 3.0
    """Roughly, on an idle machine; the longest are graded first."""
    needs_sandbox: bool = False
    """At the process level, which withstands less, the same submission earns points: the attack is real."""
    slow: bool = False
    """Graded with the slow tests only."""


@dataclass(frozen=True)
class Case:
    """One file of `cases/`."""

    name: str
    honest: bool
    summary: str
    variants: tuple[Variant, ...]


def load_cases(folder: Path = CASES) -> list[Case]:
    """Every case, by file name.

    Raises:
        ValueError: a file lacks its docstring, its name, or variants with names of their own.
    """
    return [_load(path) for path in sorted(folder.glob("*.py"))]


def _load(path: Path) -> Case:
    spec = importlib.util.spec_from_file_location(f"adversarial_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    attack, honest = getattr(module, "ATTACK", ""), getattr(module, "HONEST", "")
    variants = tuple(getattr(module, "VARIANTS", ()))
    if (attack or honest) != path.stem or bool(attack) == bool(honest):
        raise ValueError(f"{path}: needs ATTACK or HONEST, equal to the file's name")
    if not module.__doc__ or not variants or len({variant.name for variant in variants}) != len(variants):
        raise ValueError(f"{path}: needs a docstring, and VARIANTS with different names")
    return Case(path.stem, bool(honest), module.__doc__.strip().splitlines()[0], variants)


# ---- builds that several cases share


def right_text(solutions: Path) -> str:
    """The right memory/state.py, as text."""
    return (solutions / "memory" / "state.py").read_text(encoding="utf-8")


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files, given by relative path, and return the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def state(
    top: str = "",
    call: str = "",
    answer: str = "wrong(recipe)",
    files: Mapping[str, str] | None = None,
    fill_in: Callable[[Path, Path], Mapping[str, str]] = lambda folder, solutions: {},
) -> Build:
    """A submission whose `state_bytes_per_parameter` is wrong in every check and carries an attack.

    Args:
        top: code that runs at import, where `right(recipe)` and `wrong(recipe)` are defined.
        call: code that runs inside the graded call, before it returns `answer`.
        files: more files of the submission.
        fill_in: (folder, solutions) to texts for the places marked @NAME@ in `top` and `call`.
    """

    def build(folder: Path, solutions: Path) -> Path:
        text = (
            right_text(solutions)
            + "\n\nright = state_bytes_per_parameter\n\n\n"
            + "def wrong(recipe):\n    terms = right(recipe)\n"
            + "    return terms.model_copy(update={'weights': terms.weights + 1})\n\n\n"
            + textwrap.dedent(top)
            + "\n\ndef state_bytes_per_parameter(recipe):\n"
            + textwrap.indent(textwrap.dedent(call).strip("\n"), "    ")
            + f"\n    return {answer}\n"
        )
        for name, value in fill_in(folder, solutions).items():
            text = text.replace(f"@{name}@", value)
        return write(folder, {"memory/state.py": text, **(files or {})})

    return build


def breach(
    body: str, fill_in: Callable[[Path, Path], Mapping[str, str]] = lambda folder, solutions: {}
) -> Build:
    """Wrong code that answers right from the moment `breach()`, whose body is given, returns something true.

    `breach` runs once, at import; an exception in it means no.
    """
    top = "def breach():\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    top += "\n\n\ntry:\n    GOT_THROUGH = bool(breach())\nexcept Exception:\n    GOT_THROUGH = False\n"
    return state(top=top, answer="right(recipe) if GOT_THROUGH else wrong(recipe)", fill_in=fill_in)
