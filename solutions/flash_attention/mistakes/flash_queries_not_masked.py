"""Queries beyond the end are loaded."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_shapes"
HINT = (
    "The last tile of queries or keys reaches beyond the end, and the kernel loads rows that do not exist: "
    "give every tl.load a mask of rows < T_q, keys < T_k and columns < D."
)
FAILS = ("test_rows_beyond_the_end_are_not_touched",)
SYMPTOMS = ("kernel.out_of_bounds_load",)
ALSO = ("flash_forward_half", "flash_forward_causal", "flash_forward_gqa", "performance")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "queries_not_masked")
