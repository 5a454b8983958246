"""Every stage warms up as long as the first."""

from ._schedules import all_forwards_first, one_forward_one_backward, timed

EXERCISE = "pipeline_schedule"
HINT = "Every stage of yours warms up with p - 1 forwards. That is right for the first; each stage behind it needs one less."
FAILS = (
    "test_1f1b_takes_as_long_and_holds_less",
    "test_durations_are_given_and_not_assumed",
    "test_one_stage_one_microbatch_and_fewer_microbatches_than_stages",
    "test_any_1f1b",
)
SYMPTOMS = (
    "schedule.holds_too_many",
    "schedule.too_long",
)


def pipeline_schedule(
    kind: str, stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> list[tuple[float, int, int, str]]:
    if kind == "gpipe":
        return timed(all_forwards_first(stages, microbatches), forward, backward)
    orders = one_forward_one_backward(lambda stage: stages - 1, stages, microbatches)
    return timed(orders, forward, backward)
