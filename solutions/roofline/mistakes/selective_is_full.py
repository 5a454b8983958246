"""Selective recomputation is counted as the whole forward."""

from ..training import hfu as right

EXERCISE = "utilisation"
HINT = "Selective recomputation runs only some operations again: selective_flops_per_token says how much."
FAILS = ("test_selective_recomputation_adds_what_it_runs_again", "test_any_hfu")


def hfu(
    model_flops_per_token: float,
    tokens_per_s: float,
    gpus: int,
    peak_flops: float,
    recomputation: str,
    selective_flops_per_token: float = 0,
) -> float:
    kind = "full" if recomputation == "selective" else recomputation
    return right(model_flops_per_token, tokens_per_s, gpus, peak_flops, kind, selective_flops_per_token)
