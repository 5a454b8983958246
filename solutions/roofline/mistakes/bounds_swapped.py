"""Memory above the ridge and compute below it."""

from specs import Cost, DType, Gpu

from ..roofline import bound as right

EXERCISE = "roofline_model"
HINT = "Right of the ridge there are many FLOPs for each byte. Which of the two is scarce there?"
FAILS = ("test_at_the_ridge_an_operation_is_bound_by_compute", "test_any_bound")


def bound(cost: Cost, gpu: Gpu, dtype: DType) -> str:
    return "memory" if right(cost, gpu, dtype) == "compute" else "compute"
