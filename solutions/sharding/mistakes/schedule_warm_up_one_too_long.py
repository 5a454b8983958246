"""1F1B warms up with one forward too many."""

from ._schedules import all_forwards_first, one_forward_one_backward, timed

EXERCISE = "pipeline_schedule"
HINT = "Your warm-up is one forward too long: every stage holds a microbatch more than it must. The last stage needs no warm-up at all."
FAILS = (
    "test_1f1b_takes_as_long_and_holds_less",
    "test_durations_are_given_and_not_assumed",
    "test_one_stage_one_microbatch_and_fewer_microbatches_than_stages",
    "test_any_1f1b",
    "test_the_smallest_pipelines",
)
SYMPTOMS = ("schedule.holds_too_many",)


def pipeline_schedule(
    kind: str, stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> list[tuple[float, int, int, str]]:
    if kind == "gpipe":
        return timed(all_forwards_first(stages, microbatches), forward, backward)
    orders = one_forward_one_backward(lambda stage: stages - stage, stages, microbatches)
    return timed(orders, forward, backward)
