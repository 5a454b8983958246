"""Q is loaded again for every tile of keys."""

from torch import Tensor

from ._forward import run

EXERCISE = "efficiency"
HINT = "Your kernel loads its tile of Q again for every tile of keys: load it once, before the loop."
FAILS = ("test_few_bytes_are_moved",)
SYMPTOMS = ("queries_loaded_again",)
ALSO = ()


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "queries_loaded_in_the_loop")
