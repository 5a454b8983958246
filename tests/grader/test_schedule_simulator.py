"""The simulator of schedules: what can run and what it costs, what cannot and why, for any legal schedule."""

import random
from pathlib import Path
from typing import Any

import pytest

from grader.calls.faults import CheckFailed
from grader.checks.expect import Expect
from grader.checks.mistakes import load_solution
from grader.schedules.judging import require, wanted_peaks
from grader.schedules.simulator import MOST_PASSES, BadSchedule, simulate, sizes

bubbles = load_solution(Path(__file__).parents[2] / "solutions", "sharding", "bubbles.py")

# Two stages, two microbatches, a forward 1, a backward 2, written by hand.
GPIPE = [
    (0, 0, 0, "F"),
    (1, 0, 1, "F"),
    (1, 1, 0, "F"),
    (2, 1, 1, "F"),
    (3, 1, 0, "B"),
    (5, 1, 1, "B"),
    (5, 0, 0, "B"),
    (7, 0, 1, "B"),
]
ONE_F_ONE_B = [
    (0, 0, 0, "F"),
    (1, 0, 1, "F"),
    (1, 1, 0, "F"),
    (2, 1, 0, "B"),
    (4, 1, 1, "F"),
    (5, 1, 1, "B"),
    (4, 0, 0, "B"),
    (7, 0, 1, "B"),
]


def changed(entries: list[tuple[Any, ...]], index: int, entry: Any) -> list[Any]:
    """The entries with one in place of another; None takes it out."""
    return [*entries[:index], *([] if entry is None else [entry]), *entries[index + 1 :]]


@pytest.mark.parametrize(("entries", "peaks"), [(GPIPE, (2, 2)), (ONE_F_ONE_B, (2, 1))])
def test_a_schedule_by_hand_costs_what_is_counted_by_hand(entries: list[Any], peaks: tuple[int, ...]) -> None:
    schedule = simulate(entries, 2, 2)
    assert schedule.makespan == 9
    assert schedule.ideal == 6
    assert schedule.bubble == 3
    assert schedule.of_total == pytest.approx(1 / 3)
    assert schedule.over_ideal == pytest.approx(1 / 2)
    assert schedule.peak_activations == peaks


def test_the_order_of_entries_and_lists_for_tuples_change_nothing() -> None:
    shuffled = [list(entry) for entry in ONE_F_ONE_B]
    random.Random(3).shuffle(shuffled)
    assert simulate(shuffled, 2, 2) == simulate(ONE_F_ONE_B, 2, 2)


def test_what_ends_at_3_may_be_used_at_3_and_times_may_be_sums_of_floats() -> None:
    entries = bubbles.pipeline_schedule("1f1b", 7, 23, 0.1, 0.7)
    assert simulate(entries, 7, 23, 0.1, 0.7).makespan == pytest.approx(29 * 0.8)


@pytest.mark.parametrize(
    ("entries", "symptom", "message"),
    [
        (changed(GPIPE, 7, None), "missing", "B of microbatch 1 on stage 0 is missing"),
        ([*GPIPE, (20, 0, 1, "B")], "twice", "B of microbatch 1 on stage 0 is there twice"),
        (changed(GPIPE, 5, (4, 1, 1, "B")), "overlap", "B of microbatch 1 on stage 1 begins at 4, and B of"),
        (
            changed(GPIPE, 2, (0, 1, 0, "F")),
            "forward_too_early",
            "F of microbatch 0 on stage 1 begins at 0, and",
        ),
        (changed(GPIPE, 6, (4.5, 0, 0, "B")), "backward_too_early", "waits for B of microbatch 0 on stage 1"),
    ],
)
def test_what_cannot_run_is_named(entries: list[Any], symptom: str, message: str) -> None:
    with pytest.raises(BadSchedule, match=message) as caught:
        simulate(entries, 2, 2)
    assert caught.value.symptom == f"schedule.{symptom}"


def test_a_backward_waits_for_its_own_forward_on_the_last_stage() -> None:
    with pytest.raises(BadSchedule, match="waits for F of microbatch 0 on stage 0") as caught:
        simulate([(0, 0, 0, "B"), (2, 0, 0, "F")], 1, 1)
    assert caught.value.symptom == "schedule.backward_before_forward"


@pytest.mark.parametrize(
    "entries",
    [
        None,
        0,
        "FB",
        {},
        [],
        [None],
        [(0, 0, 0)],
        [(0, 0, 0, "F", 1)],
        ["0F00"],
        [(float("nan"), 0, 0, "F")],
        [(float("inf"), 0, 0, "F")],
        [(-1, 0, 0, "F")],
        [(True, 0, 0, "F")],
        [(0, 0.0, 0, "F")],
        [(0, True, 0, "F")],
        [(0, -1, 0, "F")],
        [(0, 0, 7, "F")],
        [(0, 7, 0, "F")],
        [(0, 0, 10**30, "F")],
        [(10**400, 0, 0, "F")],
        [(0, 0, 0, "f")],
        [(0, 0, 0, b"F")],
        [(0, 0, 0, "W")],
        [(0, 0, 0, "F")] * (MOST_PASSES + 1),
    ],
)
def test_what_is_no_schedule_is_refused_and_not_shown(entries: Any) -> None:
    with pytest.raises(BadSchedule) as caught:
        simulate(entries, 2, 2)
    assert caught.value.symptom == "schedule.entry"
    assert len(caught.value.text) < 200


@pytest.mark.parametrize("entry", [(0, 2.5, 0, "F"), ("F", 0, 0, 0), (0, "F", 0, 0)])
def test_an_entry_with_its_parts_in_another_order_is_told_which_is_wanted(entry: Any) -> None:
    with pytest.raises(BadSchedule, match=r'entry 0 is not \(time, stage, microbatch, "F" or "B"\): '):
        simulate([entry], 2, 2)


def test_sizes_are_read_from_the_entries() -> None:
    assert sizes(GPIPE) == (2, 2)
    assert sizes([(0, 4, 9, "F")]) == (5, 10)


@pytest.mark.parametrize("kind", ["gpipe", "1f1b"])
def test_the_solution_has_the_bubble_and_the_peak_of_the_formulas(kind: str) -> None:
    rng = random.Random(kind)
    for stages in range(1, 9):
        for microbatches in range(1, 14):
            durations = rng.choice([(1, 2), (3, 1), (1.5, 0.7), (0.1, 0.2)])
            entries = bubbles.pipeline_schedule(kind, stages, microbatches, *durations)
            schedule = simulate(entries, stages, microbatches, *durations)
            formula = bubbles.bubble_fraction(kind, stages, microbatches)
            assert schedule.of_total == pytest.approx(formula.of_total, abs=1e-9)
            assert schedule.over_ideal == pytest.approx(formula.over_ideal, abs=1e-9)
            peaks = bubbles.pipeline_peak_activations(kind, stages, microbatches)
            assert list(schedule.peak_activations) == peaks
            assert wanted_peaks("gpipe" if kind == "gpipe" else "1f1b", stages, microbatches) == tuple(peaks)


def random_schedule(
    rng: random.Random, stages: int, microbatches: int, forward: float, backward: float
) -> list[tuple[float, int, int, str]]:
    """A legal schedule in which each stage takes any pass that is ready, now and then after a rest."""
    ready = {(0, index, "F"): 0.0 for index in range(microbatches)}
    free = [0.0] * stages
    entries: list[tuple[float, int, int, str]] = []
    while ready:
        stage, index, kind = rng.choice(sorted(ready))
        start = max(free[stage], ready.pop((stage, index, kind))) + rng.choice((0, 0, 0, 0.25))
        free[stage] = end = start + (forward if kind == "F" else backward)
        entries.append((start, stage, index, kind))
        if kind == "F" and stage < stages - 1:
            ready[stage + 1, index, "F"] = end
        elif kind == "F":
            ready[stage, index, "B"] = end
        elif stage:
            ready[stage - 1, index, "B"] = end
    return entries


def test_any_legal_schedule_can_run_and_none_that_is_as_short_holds_less_than_1f1b() -> None:
    rng = random.Random(7)
    as_short = 0
    for _ in range(3000):
        stages, microbatches = rng.randint(1, 3), rng.randint(1, 4)
        durations = rng.choice([(1, 2), (1, 1), (2, 1)])
        entries = random_schedule(rng, stages, microbatches, *durations)
        schedule = simulate(entries, stages, microbatches, *durations)
        assert schedule.bubble >= (stages - 1) * sum(durations) - 1e-9
        if schedule.makespan <= (microbatches + stages - 1) * sum(durations) + 1e-9:
            as_short += 1
            least = wanted_peaks("1f1b", stages, microbatches)
            assert all(peak >= right for peak, right in zip(schedule.peak_activations, least, strict=True))
    assert as_short > 300


def outcome(entries: Any, *case: Any, hidden: bool = False) -> tuple[str, str]:
    """(symptom, message) of a check that fails, two empty strings of one that passes."""
    try:
        require(Expect(hidden=hidden), entries, *case)
    except CheckFailed as failed:
        return failed.symptom, failed.message
    return "", ""


def test_any_schedule_with_the_bubble_and_the_peak_of_its_kind_passes() -> None:
    assert outcome(GPIPE, "gpipe", 2, 2) == ("", "")
    # Backwards in reverse order, as GPipe's own figure has them: the last microbatch's first.
    mirrored = [
        (time, stage, 1 - index if kind == "B" else index, kind) for time, stage, index, kind in GPIPE
    ]
    assert outcome(mirrored, "gpipe", 2, 2) == ("", "")
    # 1F1B with its microbatches renamed, and with a rest that costs no time.
    renamed = [(time, stage, 1 - index, kind) for time, stage, index, kind in ONE_F_ONE_B]
    assert outcome(renamed, "1f1b", 2, 2) == ("", "")
    later = changed(ONE_F_ONE_B, 1, (1.5, 0, 1, "F"))
    assert outcome(later, "1f1b", 2, 2) == ("", "")


def test_the_other_kind_a_longer_one_and_one_that_holds_more_fail() -> None:
    assert outcome(ONE_F_ONE_B, "gpipe", 2, 2)[0] == "schedule.backward_among_forwards"
    assert outcome(GPIPE, "1f1b", 2, 2)[0] == "schedule.holds_too_many"
    late = changed(GPIPE, 7, (8, 0, 1, "B"))
    assert outcome(late, "gpipe", 2, 2) == (
        "schedule.too_long",
        "gpipe, 2 stages, 2 microbatches: it takes longer than it must (10, and 9 is possible): stages wait "
        "more than while the pipeline fills and drains",
    )


def test_a_hidden_check_names_no_stage_no_microbatch_and_no_time() -> None:
    broken = [
        (None, "gpipe"),
        (changed(GPIPE, 7, None), "gpipe"),
        (changed(GPIPE, 5, (4, 1, 1, "B")), "gpipe"),
        (changed(GPIPE, 2, (0, 1, 0, "F")), "gpipe"),
        (changed(GPIPE, 7, (8, 0, 1, "B")), "gpipe"),
        ([(0, 5, 5, "F")], "gpipe"),
        (ONE_F_ONE_B, "gpipe"),
        (GPIPE, "1f1b"),
    ]
    for entries, kind in broken:
        symptom, message = outcome(entries, kind, 2, 2, hidden=True)
        assert symptom
        assert not any(
            letter.isdigit() for letter in message.replace("from 0 upwards", "").replace("1f1b", "")
        )
