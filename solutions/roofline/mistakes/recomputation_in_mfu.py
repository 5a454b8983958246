"""MFU counts a recomputed forward."""

from ..training import mfu as right

EXERCISE = "utilisation"
HINT = "Model FLOPs are what the model needs, however it is run. A recomputed forward belongs to HFU."
FAILS = ("test_mfu_of_published_runs", "test_any_mfu")


def mfu(model_flops_per_token: float, tokens_per_s: float, gpus: int, peak_flops: float) -> float:
    return right(model_flops_per_token, tokens_per_s, gpus, peak_flops) * 4 / 3
