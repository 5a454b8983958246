"""The selective part is added under every kind of recomputation."""

from ..training import hfu as right

EXERCISE = "utilisation"
HINT = "selective_flops_per_token counts only when recomputation is selective."
FAILS = ("test_selective_recomputation_adds_what_it_runs_again", "test_any_hfu")


def hfu(
    model_flops_per_token: float,
    tokens_per_s: float,
    gpus: int,
    peak_flops: float,
    recomputation: str,
    selective_flops_per_token: float = 0,
) -> float:
    kind = "none" if recomputation == "selective" else recomputation
    flops = model_flops_per_token
    added = selective_flops_per_token * tokens_per_s / (gpus * peak_flops)
    return right(flops, tokens_per_s, gpus, peak_flops, kind) + added
