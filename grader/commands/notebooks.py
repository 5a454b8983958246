"""`grader notebooks`: an nbgrader course out of the kit, written anew without changing a byte that need not change."""

from pathlib import Path

from grader.course.settings import FILE, read_course
from grader.kit import Kit
from grader.notebooks.source import notebook
from grader.printable import printable
from grader.refusal import BadInput
from grader.report import write_atomically

_CONFIG = "nbgrader_config.py"

NBGRADER_CONFIG = """# nbgrader for a Rooflab course, written by `grader notebooks`. A changed file is left alone.
from grader.notebooks.autograde import GRADE, RELEASE

c = get_config()
c.CourseDirectory.course_id = "rooflab"
# What students get: no cell that is for instructors, and the kit's own stub in place of a solution.
c.GenerateAssignment.preprocessors = RELEASE
c.TagRemovePreprocessor.enabled = True
c.TagRemovePreprocessor.remove_cell_tags = {"instructor"}
c.ClearSolutions.code_stub = {"python": 'raise NotImplementedError("write me")'}
# Official grading runs no student's kernel: the cells are graded as files, in the sandbox.
c.Autograde.autograde_preprocessors = GRADE
"""

COURSE_YAML = """# What this course changes of the kit; everything here has a default, and all of it may go.
#
# title: Efficient deep learning
# track: core                    # leaves the extra credit out
# attempts: best                 # which attempt counts; last by default
# hidden_checks: claims          # what students see of them: messages, claims or nothing
# solutions: ../solutions        # where solutions and hidden tests are kept apart
# students_kit: https://example.org/rooflab-students.zip   # what a notebook installs where the kit is missing
# late: {per_day: 0.1, at_most: 0.5, grace_minutes: 15}
# assignments:                   # the course has only those that are listed; without this line, all of the kit
#   roofline:                    # as the kit has it
#   memory:
#     due: 2026-10-01T23:59:00+02:00
#     extensions: {amara: 2026-10-08T23:59:00+02:00}
#     points: {parameter_count: 20}
#     leave_out: [checkpoint]
"""


def run(kit: Kit, directory: Path) -> int:
    """Write the course; the exit code."""
    if directory.exists() and not directory.is_dir():
        raise BadInput(f"{printable(str(directory))}: is a file, name a folder")
    directory.mkdir(parents=True, exist_ok=True)
    course = read_course(directory, kit)
    files = {
        directory / "source" / name / f"{name}.ipynb": notebook(
            course.kit, course.kit.available()[name], course.points(name), course.settings.students_kit
        )
        for name in course.names
    }
    written = [path for path, text in files.items() if _write(path, text)]
    for path in written:
        print(f"wrote {path.relative_to(directory)}")
    for name, text in ((_CONFIG, NBGRADER_CONFIG), (FILE, COURSE_YAML)):
        if not (directory / name).exists():
            write_atomically(directory / name, text)
            print(f"wrote {name}")
    if not written:
        print("all notebooks are up to date")
    return 0


def _write(path: Path, text: str) -> bool:
    """Whether the file had to be written."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    write_atomically(path, text)
    return True
