"""No attack earns what it did not do, no honest submission loses anything, and nobody's neighbours notice."""

from pathlib import Path

import pytest

from grader.sandbox import available
from tests.adversarial import catalogue
from tests.adversarial.case import STATE_BYTES, Case, Variant, load_cases
from tests.adversarial.grading import HONEST, MISTAKEN, Graded, grade_cases, id_of, problems, untimed

pytestmark = pytest.mark.attacks

CASES = load_cases()
EACH = [
    pytest.param(case, variant, id=id_of(case, variant), marks=[pytest.mark.slow] * variant.slow)
    for case in CASES
    for variant in case.variants
]
EXERCISES = sorted({variant.exercise for case in CASES for variant in case.variants if not variant.slow})


@pytest.mark.parametrize(("case", "variant"), EACH)
def test_becomes_what_the_case_says(graded: Graded, case: Case, variant: Variant) -> None:
    assert problems(variant, graded.rows[id_of(case, variant)]) == []


@pytest.mark.parametrize("exercise", EXERCISES)
@pytest.mark.parametrize("control", [HONEST, MISTAKEN])
def test_a_neighbour_of_attackers_gets_the_report_that_it_gets_alone(
    graded: Graded, exercise: str, control: str
) -> None:
    alone, beside = graded.alone[exercise, control], graded.beside[exercise, control]
    assert untimed(beside) == untimed(alone)


@pytest.mark.parametrize("honest", [False, True])
def test_every_number_of_both_lists_has_its_cases(honest: bool) -> None:
    listed = catalogue.HONEST if honest else catalogue.ATTACKS
    names = {case.name for case in CASES if case.honest is honest}
    assert [name for _, wanted in listed.values() for name in wanted if name not in names] == []
    numbers = {*listed, *catalogue.TIMED["honest" if honest else "attack"]}
    assert numbers == set(range(1, max(numbers) + 1))


def test_the_honest_control_earns_all_and_the_mistaken_one_its_hint(graded: Graded) -> None:
    for exercise in EXERCISES:
        (right,) = graded.beside[exercise, HONEST].exercises
        assert right.points == right.max_points
    (wrong,) = graded.beside[STATE_BYTES, MISTAKEN].exercises
    assert wrong.points < wrong.max_points
    assert {check.mistake.rpartition(".")[2] for check in wrong.checks if check.hint} == {"no_master_copy"}


def test_no_process_is_left(graded: Graded) -> None:
    assert graded.processes_left == []


def test_no_shared_memory_is_left(graded: Graded) -> None:
    assert graded.shared_memory_left == []


def test_no_temporary_folder_is_left(graded: Graded) -> None:
    assert graded.temporary_left == []


def test_no_file_outside_the_output_folder_is_touched(graded: Graded) -> None:
    assert graded.changed == []


def test_the_output_folder_holds_reports_and_a_summary_only(graded: Graded) -> None:
    assert graded.stray_output == []


def test_what_only_the_sandbox_stops_succeeds_without_it(tmp_path: Path) -> None:
    """The attacks are real: at the process level, which claims less, the same files earn points."""
    if not available().ok:
        pytest.fail("the attacks were NOT run: the sandbox cannot start here", pytrace=False)
    real = [
        Case(case.name, case.honest, case.summary, chosen)
        for case in CASES
        if (chosen := tuple(variant for variant in case.variants if variant.needs_sandbox))
    ]
    assert real
    rows = grade_cases(real, tmp_path, level="process").rows
    assert [name for name, row in rows.items() if row.report is None or row.report.points == 0] == []
