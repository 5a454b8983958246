"""An operation exactly at the ridge is bound by memory."""

from specs import Cost, DType, Gpu

from ..roofline import arithmetic_intensity, ridge_point

EXERCISE = "roofline_model"
HINT = 'Exactly at the ridge both bills are equal, and by the convention here that is "compute".'
FAILS = ("test_at_the_ridge_an_operation_is_bound_by_compute", "test_any_bound")


def bound(cost: Cost, gpu: Gpu, dtype: DType) -> str:
    return "compute" if arithmetic_intensity(cost) > ridge_point(gpu, dtype) else "memory"
