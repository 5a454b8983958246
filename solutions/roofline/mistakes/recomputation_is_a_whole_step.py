"""Full recomputation is counted as another forward and backward."""

from ..training import hfu as right

EXERCISE = "utilisation"
HINT = "Recomputation runs the forward again, not the backward."
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
    factor = 2 if recomputation == "full" else 1
    kind = "none" if recomputation == "full" else recomputation
    return factor * right(
        model_flops_per_token, tokens_per_s, gpus, peak_flops, kind, selective_flops_per_token
    )
