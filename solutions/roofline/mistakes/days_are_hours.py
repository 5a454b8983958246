"""Hours for days."""

EXERCISE = "training_flops"
HINT = "A day has 86,400 seconds. What you return are hours."
FAILS = ("test_days_of_a_run", "test_any_run")


def training_days(flops: float, gpus: int, flops_per_s: float) -> float:
    return flops / (gpus * flops_per_s) / 3600
