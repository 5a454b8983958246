"""Hidden checks of bubbles.py: fresh random pipelines against the reference and the simulator."""

import pytest

from grader.schedules.judging import require


@pytest.mark.exercise("sharding.bubble_fraction", weight=3)
def test_any_pipeline(submission, expect, oracle, rng):
    """Any number of stages, microbatches and chunks under each schedule."""
    for schedule in ("gpipe", "1f1b", "interleaved"):
        for _ in range(4):
            stages = rng.randint(2, 64)
            microbatches = stages * rng.randint(2, 20)
            arguments = (schedule, stages, microbatches, rng.randint(2, 8))
            got = submission.sharding.bubble_fraction(*arguments)
            expect.terms(got, oracle.sharding.bubble_fraction(*arguments))


@pytest.mark.exercise("sharding.bubble_fraction", weight=2)
def test_fewer_microbatches_than_stages(submission, expect, oracle, rng):
    """Pipelines that never fill wait longer than they work; chunks may be left out."""
    for schedule in ("gpipe", "1f1b"):
        for _ in range(4):
            stages = rng.randint(6, 40)
            arguments = (schedule, stages, rng.randint(1, stages - 4))
            got = submission.sharding.bubble_fraction(*arguments)
            expect.terms(got, oracle.sharding.bubble_fraction(*arguments))


@pytest.mark.exercise("sharding.pipeline_peak_activations", weight=4)
def test_any_pipelines_activations(submission, expect, oracle, rng):
    """Few and many microbatches, under both schedules."""
    for schedule in ("gpipe", "1f1b"):
        for _ in range(4):
            stages = rng.randint(3, 30)
            for microbatches in (rng.randint(1, stages - 1), rng.randint(stages, 90)):
                arguments = (schedule, stages, microbatches)
                got = submission.sharding.pipeline_peak_activations(*arguments)
                expect.equal(got, oracle.sharding.pipeline_peak_activations(*arguments))


def check_schedules(submission, expect, cases):
    """Every schedule is asked for before the first is judged."""
    got = [submission.sharding.pipeline_schedule(*case) for case in cases]
    for case, entries in zip(cases, got, strict=True):
        require(expect, entries, *case)


@pytest.mark.exercise("sharding.pipeline_schedule", weight=3)
def test_any_1f1b(submission, expect, rng):
    """1F1B of any size, with microbatches to fill the pipeline and without, and any durations."""
    cases = []
    for _ in range(4):
        stages = rng.randint(3, 9)
        for microbatches in (rng.randint(stages, 3 * stages), rng.randint(2, stages - 1)):
            cases.append(("1f1b", stages, microbatches, rng.randint(1, 4), rng.randint(1, 9)))
        cases.append(("1f1b", stages, rng.randint(stages, 20), rng.uniform(0.1, 3), rng.uniform(0.1, 3)))
    check_schedules(submission, expect, cases)


@pytest.mark.exercise("sharding.pipeline_schedule", weight=2)
def test_any_gpipe(submission, expect, rng):
    """GPipe of any size and any durations."""
    cases = [("gpipe", rng.randint(2, 9), rng.randint(2, 20)) for _ in range(3)]
    for _ in range(3):
        durations = (rng.randint(1, 4), rng.randint(1, 9))
        cases.append(("gpipe", rng.randint(2, 9), rng.randint(2, 20), *durations))
    check_schedules(submission, expect, cases)


@pytest.mark.exercise("sharding.pipeline_schedule")
def test_the_smallest_pipelines(submission, expect, rng):
    """One stage or one microbatch, of either kind."""
    cases = [
        case
        for kind in ("gpipe", "1f1b")
        for case in ((kind, 1, rng.randint(1, 9)), (kind, rng.randint(2, 9), 1), (kind, 1, 1))
    ]
    check_schedules(submission, expect, cases)
