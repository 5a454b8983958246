"""What is recomputed is counted forward and backward."""

from ..training import hfu as right

EXERCISE = "utilisation"
HINT = "Only the forward of these operations is run again. Their backward is in the model FLOPs already."
FAILS = ("test_selective_recomputation_adds_what_it_runs_again", "test_any_hfu")


def hfu(
    model_flops_per_token: float,
    tokens_per_s: float,
    gpus: int,
    peak_flops: float,
    recomputation: str,
    selective_flops_per_token: float = 0,
) -> float:
    return right(
        model_flops_per_token, tokens_per_s, gpus, peak_flops, recomputation, 3 * selective_flops_per_token
    )
