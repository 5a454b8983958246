"""Visible checks of pipeline.py: section 10.

Schedules are written down here. What is right is the gradient of the whole model in one process, in fp64; how far
fp32 may be off is what one process in fp32 is off.
"""

import pytest

from grader.checks import piped
from kernels_ref.shards.training import batch, matrices

ONE_F_ONE_B = [
    "F0 F1 F2 -  -  B0 F3 B1 -  B2 -  B3",
    "-  F0 F1 -  B0 F2 B1 F3 B2 -  B3 -",
    "-  -  F0 B0 F1 B1 F2 B2 F3 B3 -  -",
]
"""Three stages, four micro-batches: a row for each stage, a column for each time."""


def written(rows):
    """The schedule as a list of (time, stage, micro-batch, "F" or "B")."""
    return [
        (time, stage, int(step[1:]), step[0])
        for stage, row in enumerate(rows)
        for time, step in enumerate(row.split())
        if step != "-"
    ]


def gpipe(stages, micro_batches):
    """All forward passes, then all backward passes in the same order."""
    there = [(m + s, s, m, "F") for s in range(stages) for m in range(micro_batches)]
    end = stages + micro_batches - 1
    back = [(end + m + stages - 1 - s, s, m, "B") for s in range(stages) for m in range(micro_batches)]
    return there + back


def batches(seed, count, examples, width_in, width_out):
    """The micro-batches."""
    return [batch(seed + index, examples, width_in, width_out) for index in range(count)]


@pytest.mark.exercise("sharding.run_pipeline", weight=2)
def test_gpipe_gives_the_gradients_of_the_whole_model(submission, expect):
    """Two stages of other widths, three micro-batches of two examples."""
    stages = [matrices(1, (4, 6), (6, 5)), matrices(2, (5, 7), (7, 2))]
    piped.pipeline_step(submission, expect, "GPipe", stages, gpipe(2, 3), batches(1, 3, 2, 4, 2))


@pytest.mark.exercise("sharding.run_pipeline", weight=2)
def test_one_forward_one_backward(submission, expect):
    """1F1B with three stages and four micro-batches, whose list is not in the order of time."""
    stages = [matrices(3, (3, 5)), matrices(4, (5, 4)), matrices(5, (4, 2))]
    schedule = sorted(written(ONE_F_ONE_B), key=lambda step: (step[2], step[3], step[0]))
    piped.pipeline_step(submission, expect, "1F1B", stages, schedule, batches(10, 4, 2, 3, 2))


@pytest.mark.exercise("sharding.run_pipeline", weight=1)
def test_one_stage_and_one_example(submission, expect):
    """One stage sends nothing; four stages with one micro-batch of one example."""
    piped.pipeline_step(
        submission, expect, "one stage", [matrices(6, (3, 4), (4, 2))], gpipe(1, 3), batches(20, 3, 2, 3, 2)
    )
    stages = [matrices(7 + stage, (3, 3)) for stage in range(4)]
    piped.pipeline_step(submission, expect, "one micro-batch", stages, gpipe(4, 1), batches(30, 1, 1, 3, 3))
