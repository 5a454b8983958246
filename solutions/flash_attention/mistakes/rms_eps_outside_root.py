"""eps is added to the root."""

from torch import Tensor

from ._norms import run_rms_norm

EXERCISE = "rms_norm_triton"
HINT = (
    "You add eps to the root, where it hardly counts beside a small row. It belongs to the mean "
    "square, under the root."
)
FAILS = ("test_epsilon_is_inside_the_root",)
SYMPTOMS = ("eps_outside_root",)
ALSO = ()


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    return run_rms_norm(x, weight, eps, "eps_outside_root")
