"""Holds the handouts to the code: headings, table, figures, and every number that is worked in them.

What a handout's numbers must be is in worked_<assignment>.py, beside this file.
"""

import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from specs.assignment import Assignment, Exercise, assignment
from specs.published import PublishedValue, published

ROOT = Path(__file__).parents[2]
# By assignment: what draws its figures, and the headings after the numbered sections.
SCRIPTS = {
    "memory": ("solutions.memory.figures",),
    "roofline": ("solutions.roofline.handout_figures", "solutions.roofline.figures"),
    "flash_attention": ("solutions.flash_attention.figures",),
    "sharding": (
        "solutions.sharding.figures_of_numbers",
        "solutions.sharding.figures_of_pipelines",
        "solutions.sharding.figures_of_training",
    ),
    "profiling": ("solutions.profiling.figures",),
}
LAST = {
    "memory": ["Traps", "Read next"],
    "roofline": ["Which published number is wrong?", "Read next"],
    "flash_attention": ["Which published number is wrong?", "Read next"],
    "sharding": ["Which published number is wrong?", "Read next"],
    "profiling": ["Which published number is wrong?", "Read next"],
}
# Sections that show what a report says instead, or whose figure an earlier section has.
WITHOUT_FIGURE = {"flash_attention": [6, 8, 9], "sharding": [5, 6, 7]}
LARGEST_FIGURE_BYTES = 80_000


@dataclass(frozen=True)
class Handout:
    """An assignment's page, and what its numbers must be."""

    spec: Assignment
    text: str
    worked: ModuleType

    @property
    def figures(self) -> Path:
        return ROOT / "assignments" / self.spec.name / "figures"

    @property
    def sections(self) -> dict[str, str]:
        """Text below each `## ` heading, by heading, in the order of the page."""
        pieces = re.split(r"^## (.+)$", self.text, flags=re.MULTILINE)
        return dict(zip(pieces[1::2], pieces[2::2], strict=True))

    @property
    def numbered(self) -> dict[int, str]:
        """Text of the sections that have a number, by number."""
        return {int(head.split(".")[0]): text for head, text in self.sections.items() if head[0].isdigit()}


def _handout(name: str) -> Handout:
    path = Path(__file__).with_name(f"worked_{name}.py")
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    text = (ROOT / "assignments" / name / "README.md").read_text(encoding="utf-8")
    return Handout(assignment(name), text, module)


HANDOUTS = {name: _handout(name) for name in SCRIPTS}
EXERCISES = [(name, exercise) for name, page in HANDOUTS.items() for exercise in page.spec.exercises]
NUMBERS = [(name, number) for name, page in HANDOUTS.items() for number in page.worked.WORKED]

each_handout = pytest.mark.parametrize("page", HANDOUTS.values(), ids=list(HANDOUTS))


def worked(section: str) -> list[str]:
    """What is in bold in the paragraphs of a section that begin with `Worked:`, line breaks taken out."""
    paragraphs = [each for each in section.split("\n\n") if each.startswith("Worked:")]
    return [
        " ".join(bold.split())
        for each in paragraphs
        for bold in re.findall(r"\*\*(.+?)\*\*", each, re.DOTALL)
    ]


def table(text: str) -> list[str]:
    """The rows of a section's first table, without its head."""
    return [line for line in text.splitlines() if line.startswith("| ")][2:]


def row(exercise: Exercise, needs: bool) -> str:
    """The line of the handout's table for one exercise; with a last cell if any exercise needs something."""
    extra = " extra" if exercise.extra_credit else ""
    cells = [
        exercise.section.split(".")[0],
        f"`{exercise.id}`",
        f"`{exercise.file}`",
        f"{exercise.points:g}{extra}",
        str(exercise.minutes),
    ]
    return "| " + " | ".join([*cells, ", ".join(exercise.needs)] if needs else cells) + " |"


def rows(spec: Assignment) -> list[str]:
    """The handout's table."""
    needs = any(exercise.needs for exercise in spec.exercises)
    regular = sum(exercise.points for exercise in spec.exercises if not exercise.extra_credit)
    extra = sum(exercise.points for exercise in spec.exercises if exercise.extra_credit)
    minutes = sum(exercise.minutes for exercise in spec.exercises)
    points = f"{regular:g} and {extra:g} extra" if extra else f"{regular:g}"
    last = f"| | all | | {points} | {minutes} |" + (" |" if needs else "")
    return [*(row(exercise, needs) for exercise in spec.exercises), last]


def printed(value: PublishedValue) -> str:
    """A published value as a page prints it: 1,234.5 or 5.76·10²³."""
    if value.expected < 1e15:
        return f"{value.expected:,}"
    digits, power = f"{value.expected:e}".split("e+")
    return f"{float(digits):g}·10{power.translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


@each_handout
def test_has_the_sections_of_the_exercises_in_their_order(page: Handout) -> None:
    expected = list(dict.fromkeys(exercise.section for exercise in page.spec.exercises))
    assert [heading for heading in page.sections if heading[0].isdigit()] == expected
    assert list(page.sections)[-2:] == LAST[page.spec.name]


@pytest.mark.parametrize(("name", "exercise"), EXERCISES, ids=lambda each: getattr(each, "id", each))
def test_names_the_functions_of_every_exercise_in_its_section(name: str, exercise: Exercise) -> None:
    text = HANDOUTS[name].sections[exercise.section]
    assert [function for function in exercise.functions if f"`{function}`" not in text] == []


@each_handout
def test_table_is_that_of_the_spec(page: Handout) -> None:
    found = table(page.sections["How to work"])
    assert found == rows(page.spec), "paste the right-hand rows into the handout"


@each_handout
def test_every_figure_is_there_once_and_in_every_section_that_has_one(page: Handout) -> None:
    linked = re.findall(r"\]\(figures/([\w-]+)\.svg\)", page.text)
    assert sorted(linked) == sorted(path.stem for path in page.figures.iterdir())
    assert [
        number
        for number, text in page.numbered.items()
        if not re.search(r"^!\[[^\]]+\]\(figures/", text, re.M)
    ] == WITHOUT_FIGURE.get(page.spec.name, [])


@each_handout
def test_figures_are_what_the_solutions_draw_now(page: Handout, tmp_path: Path) -> None:
    for script in SCRIPTS[page.spec.name]:
        command = [sys.executable, "-B", "-m", script, str(tmp_path)]
        subprocess.run(
            command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, timeout=120
        )
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    stored = {path.name: path.read_bytes() for path in page.figures.iterdir()}
    assert drawn.keys() == stored.keys()
    assert [name for name in drawn if drawn[name] != stored[name]] == [], "run make figures"
    assert [name for name, content in drawn.items() if len(content) > LARGEST_FIGURE_BYTES] == []


@pytest.mark.parametrize(("name", "number"), NUMBERS)
def test_worked_numbers_are_those_of_the_solution(name: str, number: int) -> None:
    page = HANDOUTS[name]
    assert worked(page.numbered[number]) == page.worked.WORKED[number]()


@each_handout
def test_every_section_has_worked_numbers_that_are_checked(page: Handout) -> None:
    assert page.numbered.keys() == page.worked.WORKED.keys()
    assert [number for number, text in page.numbered.items() if not worked(text)] == []


@each_handout
def test_other_numbers_of_a_section_are_those_of_the_solution(page: Handout) -> None:
    for number, numbers in page.worked.PROSE.items():
        text = " ".join(page.numbered[number].split())
        assert [each for each in numbers() if each not in text] == []


@each_handout
def test_introduction_has_the_numbers_of_the_chapter(page: Handout) -> None:
    introduction = " ".join(page.text.split("\n## ")[0].split())
    assert [each for each in page.worked.introduction() if each not in introduction] == []


@each_handout
def test_names_every_published_number_that_misleads(page: Handout) -> None:
    traps = [value for topic in page.worked.TOPICS for value in published(topic) if value.use == "trap"]
    assert traps
    text = page.sections[LAST[page.spec.name][0]]
    assert [value.id for value in traps if printed(value) not in text] == []


def test_the_guide_answers_every_question_and_the_handout_none() -> None:
    page = HANDOUTS["roofline"]
    questions = page.sections["Which published number is wrong?"]
    guide = (ROOT / "solutions" / "roofline" / "GUIDE.md").read_text(encoding="utf-8")
    answers = guide.split("\n## ")[1]
    asked, answered = (re.findall(r"^\d+(?=\. )", text, re.MULTILINE) for text in (questions, answers))
    assert asked == answered
    right = [f"{value.recomputed:.1f}" for value in published("mfu") if value.use == "trap"]
    assert [each for each in right if each in questions] == []


def test_the_losses_of_a_real_run_are_those_of_the_solution() -> None:
    page = HANDOUTS["roofline"]
    found = [" | ".join(cell.strip() for cell in line.split("|")[3:5]) for line in table(page.numbered[6])]
    assert found == page.worked.losses()


def test_the_h100_report_is_that_of_the_solution_and_of_kernels_ref() -> None:
    """Registers and the rest depend on the compiler: the table is that of the triton it was made with."""
    triton = pytest.importorskip("triton", reason="triton is for Linux")
    page = HANDOUTS["flash_attention"]
    text = page.numbered[9]
    if f"triton {triton.__version__}" not in text:
        pytest.skip(f"the handout's report is not of triton {triton.__version__}")
    assert table(text) == page.worked.report(), "paste the right-hand rows into the handout"


def _sections(numbers: list[str]) -> str:
    """`Section 5`, `Sections 1, 2, 8 and 9`"""
    *others, last = numbers
    return f"Sections {', '.join(others)} and {last}" if others else f"Section {last}"


@each_handout
def test_every_file_says_which_sections_it_belongs_to(page: Handout) -> None:
    """A number in a solution, a stub or a visible test is the handout's: exercises have names."""
    for file in page.spec.files:
        numbers = [each.section.split(".")[0] for each in page.spec.exercises if each.file == file]
        said = f"{_sections(list(dict.fromkeys(numbers)))} of the handout"
        for folder in ("solutions", "assignments"):
            text = (ROOT / folder / page.spec.name / file).read_text(encoding="utf-8")
            assert said in text, f"{folder}/{page.spec.name}/{file}"
    for folder in ("solutions", "assignments"):
        for path in sorted((ROOT / folder / page.spec.name).rglob("*.py")):
            assert not re.search(r"exercises? \d", path.read_text(encoding="utf-8"), re.IGNORECASE), path
