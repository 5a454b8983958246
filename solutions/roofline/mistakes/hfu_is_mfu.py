"""HFU ignores recomputation."""

from ..training import mfu

EXERCISE = "utilisation"
HINT = "That is the MFU. HFU counts what the hardware did, the recomputed part too."
FAILS = (
    "test_full_recomputation_is_one_more_forward",
    "test_selective_recomputation_adds_what_it_runs_again",
    "test_any_hfu",
)


def hfu(
    model_flops_per_token: float,
    tokens_per_s: float,
    gpus: int,
    peak_flops: float,
    recomputation: str,
    selective_flops_per_token: float = 0,
) -> float:
    return mfu(model_flops_per_token, tokens_per_s, gpus, peak_flops)
