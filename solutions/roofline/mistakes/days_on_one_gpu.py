"""The run is taken to be on one GPU."""

EXERCISE = "training_flops"
HINT = "flops_per_s is what one GPU achieves. How many work at once?"
FAILS = ("test_days_of_a_run", "test_any_run")


def training_days(flops: float, gpus: int, flops_per_s: float) -> float:
    return flops / flops_per_s / 86_400
