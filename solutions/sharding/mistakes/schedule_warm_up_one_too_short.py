"""1F1B warms up with one forward too few."""

from ._schedules import all_forwards_first, one_forward_one_backward, timed

EXERCISE = "pipeline_schedule"
HINT = "Your warm-up is one forward too short: a stage waits for its first backward although a microbatch could come down. Stage s has p - s - 1 stages behind it."
FAILS = (
    "test_1f1b_takes_as_long_and_holds_less",
    "test_durations_are_given_and_not_assumed",
    "test_one_stage_one_microbatch_and_fewer_microbatches_than_stages",
    "test_any_1f1b",
)
SYMPTOMS = ("schedule.too_long",)


def pipeline_schedule(
    kind: str, stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> list[tuple[float, int, int, str]]:
    if kind == "gpipe":
        return timed(all_forwards_first(stages, microbatches), forward, backward)
    orders = one_forward_one_backward(lambda stage: stages - stage - 2, stages, microbatches)
    return timed(orders, forward, backward)
