"""The time is multiplied by the number of GPUs and not divided by it."""

EXERCISE = "training_flops"
HINT = "Your run takes longer the more GPUs work on it. What should twice as many do to its days?"
FAILS = ("test_days_of_a_run", "test_any_run")


def training_days(flops: float, gpus: int, flops_per_s: float) -> float:
    return flops * gpus / flops_per_s / 86_400
