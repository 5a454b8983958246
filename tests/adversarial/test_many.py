"""A hundred hostile and a hundred honest submissions in one cohort: all reports right, nothing left."""

import contextlib
import csv
from dataclasses import replace
from pathlib import Path

import pytest

from grader.cohort import grade
from grader.judges import Order, starter
from grader.kit import find_kit
from tests.adversarial.case import STATE_BYTES, Case, Variant, load_cases
from tests.adversarial.grading import SEED, grade_cases, id_of, problems, untimed

pytestmark = [pytest.mark.attacks, pytest.mark.slow]

MANY = 100


def _variants(honest: bool) -> list[tuple[Case, Variant]]:
    """A hundred of the cheapest exercise's, in turn: some twice or more, under other names."""
    found = [
        (case, variant)
        for case in load_cases()
        for variant in case.variants
        if case.honest is honest
        and variant.exercise == STATE_BYTES
        and not variant.slow
        and variant.takes_s < 9
    ]
    return [found[number % len(found)] for number in range(MANY)]


@pytest.fixture(scope="module")
def mixed() -> list[Case]:
    """Cases of one variant each, hostile and honest in turn."""
    pairs = zip(_variants(honest=False), _variants(honest=True), strict=True)
    return [
        replace(case, name=f"{number:03}-{case.name}", variants=(variant,))
        for number, (case, variant) in enumerate(each for pair in pairs for each in pair)
    ]


def test_two_hundred_mixed_submissions_get_two_hundred_right_reports(
    mixed: list[Case], tmp_path: Path
) -> None:
    """The honest ones the same, but for times, as alone."""
    graded = grade_cases(mixed, tmp_path, jobs=2)
    assert len(graded.rows) == 2 * MANY
    wrong = {
        name: found
        for case in mixed
        for variant in case.variants
        if (found := problems(variant, graded.rows[name := id_of(case, variant)]))
    }
    assert wrong == {}
    assert graded.processes_left == graded.temporary_left == graded.shared_memory_left == []
    assert graded.changed == graded.stray_output == []
    order = Order(find_kit(tmp_path / "kit"), tmp_path / "alone", "sandbox", SEED, 1, (STATE_BYTES,))
    with contextlib.closing(starter(order, tmp_path / "judges-alone")) as judges:
        for case in [case for case in mixed if case.honest]:
            name = id_of(case, case.variants[0])
            archive = tmp_path / "submissions" / f"{name}.zip"
            path = archive if archive.exists() else archive.with_name(name)
            (row,) = grade(order, [path], judges=judges)
            assert row.report is not None
            beside = graded.rows[name].report
            assert beside is not None
            assert untimed(beside).model_dump_json() == untimed(row.report).model_dump_json(), name
    with (tmp_path / f"out-{STATE_BYTES}" / "summary.csv").open(encoding="utf-8", newline="") as stream:
        assert len(list(csv.DictReader(stream))) >= 2 * MANY
