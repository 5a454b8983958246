"""nbgrader's autograder without a kernel: preprocessors that stand in for Execute and SaveAutoGrades.

`nbgrader autograde` sanitises a submission as ever; then the code cells become the assignment's files, our engine
grades them in the sandbox, and what it says goes into the grade cells and the gradebook. The student's code never runs
in this process, nor in one that could reach the gradebook.
"""

from pathlib import Path
from typing import Any

from nbconvert.preprocessors import ClearMetadataPreprocessor, TagRemovePreprocessor
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import (
    CheckCellMetadata,
    IgnorePattern,
    LimitOutput,
    NbGraderPreprocessor,
    SaveAutoGrades,
)

from grader.course.gradebook import refuse_unreleased, save
from grader.course.grading import course_here, grade_notebook
from grader.course.ledger import Grading, counting
from grader.course.settings import Course
from grader.notebooks.result import fill, restore_grade_cells


class GradeInSandbox(NbGraderPreprocessor):  # type: ignore[misc] # nbgrader has no types
    """In place of Execute: grades the notebook's code cells as files, and writes what was found into its cells."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Grade one notebook; the gradebook is written by SaveSandboxGrades."""
        course = course_here(Path.cwd())
        where = resources["nbgrader"]
        name, student = where["assignment"], where["student"]
        with Gradebook(where["db_url"]) as gradebook:
            refuse_unreleased(gradebook, name)
            source_cells = {
                cell.name: (cell.source, cell.checksum)
                for cell in gradebook.find_notebook(where["notebook"], name).source_cells
            }
        restore_grade_cells(nb, course.points(name), name, source_cells, course)
        grading = grade_notebook(course, name, student, nb)
        resources["rooflab"] = (course, counting(course, name, student) or grading)
        fill(nb, course, grading)
        return nb, resources


class SaveSandboxGrades(SaveAutoGrades):  # type: ignore[misc] # nbgrader has no types
    """In place of SaveAutoGrades: scores, pending states and the late penalty come from the ledger."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Write the student's grades; comments such as "No response." are nbgrader's own."""
        nb, resources = super().preprocess(nb, resources)
        course: Course
        grading: Grading
        course, grading = resources.pop("rooflab")
        with Gradebook(resources["nbgrader"]["db_url"]) as gradebook:
            save(gradebook, course, grading)
        return nb, resources

    def _add_score(self, cell: Any, resources: Any) -> None:
        """Nothing: a cell's output is no grade here."""

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        """As ever, but for solution cells that the gradebook does not know."""
        if utils.is_solution(cell) and "grade_id" not in cell.metadata.nbgrader:
            return cell, resources
        found: tuple[Any, Any] = super().preprocess_cell(cell, resources, cell_index)
        return found


GRADE = [
    GradeInSandbox,
    IgnorePattern,
    ClearMetadataPreprocessor,
    LimitOutput,
    SaveSandboxGrades,
    CheckCellMetadata,
]
"""For `Autograde.autograde_preprocessors`. The late penalty is saved with the grades, by course.yaml."""

RELEASE = [TagRemovePreprocessor, *GenerateAssignment.preprocessors.default()]
"""For `GenerateAssignment.preprocessors`: nbgrader's own, after cells that are for instructors have gone."""
