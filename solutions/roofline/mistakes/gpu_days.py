"""Days of all GPUs added up."""

EXERCISE = "training_flops"
HINT = "These are GPU-days: more GPUs should take fewer days, not as many or more."
FAILS = ("test_days_of_a_run", "test_any_run")


def training_days(flops: float, gpus: int, flops_per_s: float) -> float:
    return flops * gpus / flops_per_s / 86_400
