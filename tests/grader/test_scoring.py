"""From checks to points and one outcome an exercise."""

import pytest

from grader.checks.scoring import overall, score, score_all
from grader.report import CheckResult, Outcome
from specs.assignment import assignment

MEMORY = assignment("memory")
TEN = MEMORY.exercise("state_bytes_per_parameter")
O = Outcome  # noqa: E741 - the tables below are read as tables


def check(outcome: Outcome, weight: float = 1.0) -> CheckResult:
    return CheckResult(name="test_it", claim="It is.", outcome=outcome, weight=weight)


def test_points_are_the_passed_share_of_the_weight():
    result = score(MEMORY, TEN, [check(O.PASSED, 3), check(O.FAILED), check(O.TODO)])
    assert (result.points, result.pending_points, result.max_points) == (6, 0, 10)


@pytest.mark.parametrize("outcome", [O.NEEDS_TORCH, O.NEEDS_GPU, O.INCONCLUSIVE, O.GRADER_ERROR])
def test_what_the_submission_is_not_to_blame_for_stays_pending(outcome):
    result = score(MEMORY, TEN, [check(O.PASSED), check(outcome)])
    assert (result.points, result.pending_points) == (5, 5)
    assert result.outcome is outcome


@pytest.mark.parametrize("outcome", [O.FAILED, O.TODO, O.CRASHED, O.TIMED_OUT, O.INTEGRITY])
def test_every_other_outcome_earns_nothing_and_leaves_nothing_open(outcome):
    result = score(MEMORY, TEN, [check(outcome)])
    assert (result.points, result.pending_points) == (0, 0)


def test_an_exercise_without_checks_or_weight_is_pending_in_full():
    assert score(MEMORY, TEN, []).pending_points == 10
    assert score(MEMORY, TEN, [check(O.PASSED, 0)]).pending_points == 10


@pytest.mark.parametrize(
    ("outcomes", "whole"),
    [
        ([O.PASSED, O.PASSED], O.PASSED),
        ([O.TODO, O.TODO], O.TODO),
        ([O.TODO, O.PASSED], O.FAILED),
        ([O.TODO, O.FAILED], O.FAILED),
        ([O.FAILED, O.CRASHED], O.CRASHED),
        ([O.CRASHED, O.INTEGRITY], O.INTEGRITY),
        ([O.TIMED_OUT, O.FAILED], O.TIMED_OUT),
        ([O.GRADER_ERROR, O.FAILED], O.FAILED),
        ([O.PASSED, O.NEEDS_TORCH], O.NEEDS_TORCH),
        ([], O.GRADER_ERROR),
    ],
)
def test_the_worst_outcome_names_the_exercise(outcomes, whole):
    assert overall(check(outcome) for outcome in outcomes) is whole


def test_results_come_in_teaching_order_and_extra_credit_is_marked():
    names = [f"memory.{each.id}" for each in MEMORY.exercises]
    results = score_all({"memory": MEMORY}, {name: [check(O.PASSED)] for name in reversed(names)})
    assert [each.id for each in results] == names
    assert sum(each.points for each in results if not each.extra_credit) == MEMORY.points == 100
    assert {each.id for each in results if each.extra_credit} == {
        f"memory.{e.id}" for e in MEMORY.exercises if e.extra_credit
    }


def test_thirds_add_up():
    assert score(MEMORY, TEN, [check(O.PASSED, 1 / 3)] * 3).points == 10
