"""Generates the students' stubs from `solutions/`, with nbgrader's own markers and preprocessor.

A solution file is a jupytext percent script. Cells tagged `instructor` are dropped, BEGIN/END SOLUTION regions
become a stub, nbgrader's cell metadata goes. The same source can become a notebook later.
"""

import difflib
import logging
import re
from pathlib import Path
from typing import Any

from grader.kit import Kit
from grader.refusal import BadInput

STUB = 'raise NotImplementedError("write me")'


def generate(source: str) -> str:
    """The stub of one solution file: same cells, docstrings and imports, no solution.

    Raises:
        BadInput: jupytext or nbgrader, of the `instructor` extra, is not installed.
    """
    try:
        import jupytext
        from nbconvert.preprocessors import TagRemovePreprocessor
        from nbgrader.preprocessors import ClearSolutions
        from traitlets.config import Config
    except ModuleNotFoundError as error:
        raise BadInput(f"stubs are made with {error.name}: pip install -e '.[instructor]'") from None

    notebook = jupytext.reads(source, fmt="py:percent")
    notebook.metadata.setdefault(
        "kernelspec", {"name": "python3", "language": "python", "display_name": "Python 3"}
    )
    config = Config()
    config.ClearSolutions.code_stub = {"python": STUB}
    config.TagRemovePreprocessor.remove_cell_tags = {"instructor"}
    resources: dict[str, object] = {}
    kinds: tuple[Any, ...] = (TagRemovePreprocessor, ClearSolutions)
    for preprocessor in (kind(config=config) for kind in kinds):
        preprocessor.log.setLevel(logging.WARNING)
        notebook, resources = preprocessor.preprocess(notebook, resources)
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)
    text: str = jupytext.writes(notebook, fmt="py:percent")
    text = re.sub(r"\A# ---\n.*?\n# ---\n\n?", "", text, flags=re.DOTALL)
    return text if text.endswith("\n") else text + "\n"


def stubs(kit: Kit) -> dict[Path, str]:
    """What every stub file should hold, by path."""
    wanted = {}
    for name, spec in kit.available().items():
        for file in spec.files:
            source = kit.solutions / name / file
            wanted[kit.assignments / name / file] = generate(source.read_text(encoding="utf-8"))
    return wanted


def write_stubs(kit: Kit) -> list[Path]:
    """Write every stub that differs; the paths that changed."""
    changed = []
    for path, text in stubs(kit).items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")
            changed.append(path)
    return changed


def stale_stubs(kit: Kit) -> list[str]:
    """One line for each stub that regenerating would change, with the first line that differs."""
    problems = []
    for path, text in stubs(kit).items():
        shown = path.relative_to(kit.root)
        if not path.is_file():
            problems.append(f"{shown}: missing, run `grader stubs`")
            continue
        found = path.read_text(encoding="utf-8")
        if found != text:
            delta = difflib.unified_diff(found.splitlines(), text.splitlines(), lineterm="", n=0)
            first = next((line for line in delta if line[:1] in "+-" and line[:3] not in ("+++", "---")), "")
            problems.append(
                f"{shown}: differs from solutions/, run `grader stubs` (first: {first.strip()!r})"
            )
    return problems
