"""The peak is doubled, as with sparsity."""

from .. import training

EXERCISE = "utilisation"
HINT = "peak_flops is the dense peak of one GPU and needs no factor."
FAILS = (
    "test_mfu_of_published_runs",
    "test_full_recomputation_is_one_more_forward",
    "test_selective_recomputation_adds_what_it_runs_again",
    "test_any_mfu",
    "test_any_hfu",
)


def mfu(model_flops_per_token: float, tokens_per_s: float, gpus: int, peak_flops: float) -> float:
    return training.mfu(model_flops_per_token, tokens_per_s, gpus, peak_flops) / 2


def hfu(
    model_flops_per_token: float,
    tokens_per_s: float,
    gpus: int,
    peak_flops: float,
    recomputation: str,
    selective_flops_per_token: float = 0,
) -> float:
    value = training.hfu(
        model_flops_per_token, tokens_per_s, gpus, peak_flops, recomputation, selective_flops_per_token
    )
    return value / 2
