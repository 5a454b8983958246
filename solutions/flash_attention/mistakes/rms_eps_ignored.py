"""eps is ignored."""

from torch import Tensor

from ._norms import run_rms_norm

EXERCISE = "rms_norm_triton"
HINT = (
    "Your result does not depend on eps, so a row of zeros would give NaN. Add it to the mean square "
    "before you take the root."
)
FAILS = ("test_epsilon_is_inside_the_root",)
SYMPTOMS = ("eps_ignored",)
ALSO = ()


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    return run_rms_norm(x, weight, eps, "eps_ignored")
