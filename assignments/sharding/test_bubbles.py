"""Visible checks of bubbles.py: section 3."""

import pytest

from grader.schedules.judging import require
from specs import BubbleFraction


def check_bubbles(submission, expect, wanted):
    """Every case is asked for before the first is compared. A case is (arguments, (of_total, over_ideal))."""
    got = {case: submission.sharding.bubble_fraction(*arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, (of_total, over_ideal)) in wanted.items():
        expect.terms(got[case], BubbleFraction(of_total=of_total, over_ideal=over_ideal), case=case)


@pytest.mark.exercise("sharding.bubble_fraction", weight=2)
def test_4_stages_and_8_microbatches_wait_3_of_11_which_is_3_over_8(submission, expect):
    """4 stages and 8 microbatches wait 27.3 % of the time, which is 37.5 % of the work."""
    # Megatron-LM (SC21), section 2.2, and Llama 3, section 3.3.2, print the second: (p - 1)/m.
    wanted = {
        "1F1B, 4 stages, 8 microbatches": (("1f1b", 4, 8), (3 / 11, 3 / 8)),
        "1F1B, 8 stages, 32 microbatches": (("1f1b", 8, 32), (7 / 39, 7 / 32)),
        "1F1B, 16 stages, 128 microbatches": (("1f1b", 16, 128), (15 / 143, 15 / 128)),
    }
    check_bubbles(submission, expect, wanted)


@pytest.mark.exercise("sharding.bubble_fraction")
def test_1f1b_saves_activations_and_no_time(submission, expect):
    """GPipe waits as long as 1F1B does; neither has chunks to cut its waiting by."""
    wanted = {
        "GPipe, 4 stages, 8 microbatches": (("gpipe", 4, 8), (3 / 11, 3 / 8)),
        "GPipe, 3 stages, 2 microbatches": (("gpipe", 3, 2), (2 / 4, 2 / 2)),
        "GPipe, 4 stages, 8 microbatches, chunks=2": (("gpipe", 4, 8, 2), (3 / 11, 3 / 8)),
        "1F1B, 5 stages, 10 microbatches, chunks=4": (("1f1b", 5, 10, 4), (4 / 14, 4 / 10)),
    }
    check_bubbles(submission, expect, wanted)


@pytest.mark.exercise("sharding.bubble_fraction")
def test_4_chunks_a_gpu_quarter_the_waiting(submission, expect):
    """Interleaved with 4 chunks, 8 stages and 32 microbatches wait 5.2 % and not 17.9 %."""
    wanted = {
        "interleaved, 8 stages, 32 microbatches, 4 chunks": (
            ("interleaved", 8, 32, 4),
            (7 / (4 * 32 + 7), 7 / (4 * 32)),
        ),
        "interleaved, 4 stages, 8 microbatches, 2 chunks": (("interleaved", 4, 8, 2), (3 / 19, 3 / 16)),
        "interleaved, 4 stages, 8 microbatches, 1 chunk": (("interleaved", 4, 8, 1), (3 / 11, 3 / 8)),
    }
    check_bubbles(submission, expect, wanted)


@pytest.mark.exercise("sharding.bubble_fraction")
def test_one_stage_never_waits_and_one_microbatch_fills_one_stage_of_all(submission, expect):
    """One stage has no bubble; with one microbatch all stages but one wait at any time."""
    wanted = {
        "one stage": (("1f1b", 1, 7), (0, 0)),
        "one microbatch on 8 stages": (("gpipe", 8, 1), (7 / 8, 7)),
    }
    check_bubbles(submission, expect, wanted)


def check_peaks(submission, expect, wanted):
    """Every case is asked for before the first is compared."""
    got = {case: submission.sharding.pipeline_peak_activations(*case) for case in wanted}
    for case, peaks in wanted.items():
        kind, stages, microbatches = case
        expect.equal(got[case], peaks, case=f"{kind}, {stages} stages, {microbatches} microbatches")


@pytest.mark.exercise("sharding.pipeline_peak_activations", weight=2)
def test_1f1b_holds_as_many_microbatches_as_there_are_stages_from_here_on(submission, expect):
    """Under 1F1B the first of 4 stages holds 4 microbatches, the last holds 1, whether there are 8 or 100."""
    wanted = {
        ("1f1b", 4, 8): [4, 3, 2, 1],
        ("1f1b", 4, 100): [4, 3, 2, 1],
        ("1f1b", 2, 8): [2, 1],
    }
    check_peaks(submission, expect, wanted)


@pytest.mark.exercise("sharding.pipeline_peak_activations")
def test_gpipe_holds_every_microbatch_on_every_stage(submission, expect):
    """GPipe holds all microbatches on every stage: 8, or 100."""
    wanted = {("gpipe", 4, 8): [8, 8, 8, 8], ("gpipe", 3, 100): [100, 100, 100]}
    check_peaks(submission, expect, wanted)


@pytest.mark.exercise("sharding.pipeline_peak_activations")
def test_no_stage_holds_more_microbatches_than_there_are(submission, expect):
    """With fewer microbatches than stages, none holds more than there are; one stage alone holds one."""
    wanted = {("1f1b", 5, 2): [2, 2, 2, 2, 1], ("1f1b", 3, 1): [1, 1, 1], ("1f1b", 1, 6): [1]}
    check_peaks(submission, expect, wanted)


def check_schedules(submission, expect, cases):
    """Every schedule is asked for before the first is judged. A case is the arguments."""
    got = [submission.sharding.pipeline_schedule(*case) for case in cases]
    for case, entries in zip(cases, got, strict=True):
        require(expect, entries, *case)


@pytest.mark.exercise("sharding.pipeline_schedule", weight=2)
def test_gpipe_runs_all_forwards_and_then_all_backwards(submission, expect):
    """GPipe of 4 stages and 8 microbatches takes 33, of 3 and 2 takes 12, and each forward comes first."""
    # (8 + 4 - 1)·3 and (2 + 3 - 1)·3
    check_schedules(submission, expect, [("gpipe", 4, 8), ("gpipe", 3, 2)])


@pytest.mark.exercise("sharding.pipeline_schedule", weight=2)
def test_1f1b_takes_as_long_and_holds_less(submission, expect):
    """1F1B of 4 stages and 8 microbatches takes 33 as well, and its stages hold 4, 3, 2 and 1 microbatches."""
    check_schedules(submission, expect, [("1f1b", 4, 8), ("1f1b", 2, 3), ("1f1b", 5, 7)])


@pytest.mark.exercise("sharding.pipeline_schedule")
def test_durations_are_given_and_not_assumed(submission, expect):
    """A backward may take as long as a forward, three times as long, or less."""
    cases = [("1f1b", 3, 5, 1, 1), ("1f1b", 4, 6, 2, 6), ("gpipe", 3, 4, 1, 3), ("1f1b", 3, 4, 2.5, 1)]
    check_schedules(submission, expect, cases)


@pytest.mark.exercise("sharding.pipeline_schedule")
def test_one_stage_one_microbatch_and_fewer_microbatches_than_stages(submission, expect):
    """One stage, one microbatch, and a pipeline that never fills are schedules too."""
    cases = [("1f1b", 1, 4), ("gpipe", 1, 3), ("1f1b", 4, 1), ("gpipe", 3, 1), ("1f1b", 5, 2)]
    check_schedules(submission, expect, cases)
