"""The forward is taken to be half of the model FLOPs."""

from ..training import hfu as right

EXERCISE = "utilisation"
HINT = "Backward costs twice the forward. Which share of forward and backward together is the forward?"
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
    if recomputation == "full":
        return 1.5 * right(model_flops_per_token, tokens_per_s, gpus, peak_flops, "none")
    return right(
        model_flops_per_token, tokens_per_s, gpus, peak_flops, recomputation, selective_flops_per_token
    )
