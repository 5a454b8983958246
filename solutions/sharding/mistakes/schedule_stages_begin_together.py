"""All stages begin with the first microbatch at once."""

from ..bubbles import pipeline_schedule as right

EXERCISE = "pipeline_schedule"
HINT = "Your stages all begin at 0. A stage needs what the stage in front of it has made of the microbatch: stage s cannot begin before s forwards have run."
FAILS = (
    "test_gpipe_runs_all_forwards_and_then_all_backwards",
    "test_1f1b_takes_as_long_and_holds_less",
    "test_durations_are_given_and_not_assumed",
    "test_one_stage_one_microbatch_and_fewer_microbatches_than_stages",
    "test_any_1f1b",
    "test_any_gpipe",
    "test_the_smallest_pipelines",
)
SYMPTOMS = (
    "schedule.entry",
    "schedule.forward_too_early",
)


def pipeline_schedule(
    kind: str, stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> list[tuple[float, int, int, str]]:
    earliest = {stage: stage * forward for stage in range(stages)}
    entries = right(kind, stages, microbatches, forward, backward)
    return [
        (time - earliest[stage] if what == "F" and index == 0 else time, stage, index, what)
        for time, stage, index, what in entries
    ]
