"""`check("memory.parameter_count")` in a notebook: the visible checks against what the cells have defined so far."""

import io
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from grader.kit import KitNotFound, find_exercise, find_kit
from grader.notebooks.modules import modules, read
from grader.notebooks.page import exercise_html
from grader.refusal import BadInput
from grader.report import ExerciseResult, GradeReport
from specs.assignment import Assignment
from specs.schema import SpecError


class NotGradedHere(RuntimeError):
    """A kernel that nbgrader started to grade: what it says is no grade."""


def check(exercise: str) -> float | None:
    """Run the visible checks of an exercise against your cells, and show what they say.

    Every cell counts that you have run since the kernel started; after an edit, run the cell again.

    Returns:
        The points so far, so that `nbgrader validate` knows them; None for extra credit, which has no maximum there.
    """
    if os.environ.get("NBGRADER_EXECUTION") == "autograde":
        raise NotGradedHere(
            "nbgrader executed this notebook, which grades nothing here: its nbgrader_config.py was not read "
            "(look for an error above), run `grader grade --gradebook COURSE_DIR`"
        )
    try:
        spec, wanted = find_exercise(exercise)
        code = read(_cells())
        missing = [name for name in wanted.functions if name not in code.names]
        if missing:
            print(f"{' and '.join(missing)}: not defined yet, run the cell first")
            return None if wanted.extra_credit else 0.0
        texts = modules(code, files_of(spec), last_is_broken=False)
        report = self_check(spec, f"{spec.name}.{wanted.id}", texts)
    except (SpecError, KitNotFound, BadInput) as error:
        print(error)
        return None
    result = report.exercises[0]
    _display(result, report)
    return None if result.extra_credit else round(result.points, 2)


def files_of(spec: Assignment) -> dict[str, tuple[str, ...]]:
    """The functions that a student writes, by file."""
    files: dict[str, dict[str, None]] = {file: {} for file in spec.files}
    for exercise in spec.exercises:
        files[exercise.file].update(dict.fromkeys(exercise.functions))
    return {file: tuple(names) for file, names in files.items()}


def self_check(spec: Assignment, exercise: str, texts: dict[str, str]) -> GradeReport:
    """The visible checks of one exercise against files of these texts.

    Raises:
        BadInput: the tests cannot be run.
        KitNotFound: there are no tests here.
    """
    from grader.commands.learn import visible_session

    kit = find_kit()
    with tempfile.TemporaryDirectory(prefix="rooflab-notebook-") as folder:
        root = Path(folder)
        write_files(root / spec.name, texts)
        return visible_session(kit, root, [spec.name], [exercise]).report()


def write_files(folder: Path, texts: dict[str, str]) -> None:
    """Write the files of one assignment."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def _cells() -> Sequence[str]:
    """What has been run in this kernel, in order, as it was typed."""
    try:
        from IPython import get_ipython
    except ModuleNotFoundError:
        get_ipython = None
    shell = get_ipython() if get_ipython is not None else None
    if shell is None:
        raise BadInput("check() reads the cells of a notebook: outside of one, run pytest assignments/")
    return [str(cell) for cell in shell.history_manager.input_hist_raw[1:]]


def _display(result: ExerciseResult, report: GradeReport) -> None:
    from IPython.display import display
    from rich.console import Console

    from grader.table import print_report

    text = io.StringIO()
    print_report(
        report, Console(file=text, force_jupyter=False, color_system=None, highlight=False, soft_wrap=True)
    )
    display(
        {"text/html": exercise_html(result, in_class=False), "text/plain": text.getvalue()},
        raw=True,
    )
