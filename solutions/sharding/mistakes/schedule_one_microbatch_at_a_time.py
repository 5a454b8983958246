"""A microbatch goes all the way down and up before the next begins."""

EXERCISE = "pipeline_schedule"
HINT = "One stage works and all others wait: that is model parallelism without a pipeline. Begin the next forward as soon as stage 0 is free."
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
    "schedule.backward_among_forwards",
    "schedule.too_long",
)


def pipeline_schedule(
    kind: str, stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> list[tuple[float, int, int, str]]:
    entries: list[tuple[float, int, int, str]] = []
    for index in range(microbatches):
        start = index * stages * (forward + backward)
        turn = start + stages * forward
        for stage in range(stages):
            entries.append((start + stage * forward, stage, index, "F"))
            entries.append((turn + (stages - 1 - stage) * backward, stage, index, "B"))
    return entries
