"""The bandwidth is doubled, once for reading and once for writing."""

from specs import Cost, DType, Gpu

from .. import roofline

EXERCISE = "roofline_model"
HINT = (
    "Memory has one bandwidth, which reads and writes share. It is links between cards whose two "
    "directions count apart."
)
FAILS = (
    "test_ridges_of_real_cards",
    "test_any_card",
    "test_the_roof_rises_to_the_ridge_and_is_flat_beyond",
    "test_any_roof",
    "test_the_longer_bill_is_the_time",
    "test_any_time",
    "test_at_the_ridge_an_operation_is_bound_by_compute",
    "test_any_bound",
)


def _changed(gpu: Gpu) -> Gpu:
    return gpu.model_copy(update={"hbm_gb_per_s": 2 * gpu.hbm_gb_per_s})


def ridge_point(gpu: Gpu, dtype: DType) -> float:
    return roofline.ridge_point(_changed(gpu), dtype)


def attainable_flops(intensity: float, gpu: Gpu, dtype: DType) -> float:
    return roofline.attainable_flops(intensity, _changed(gpu), dtype)


def time_s(cost: Cost, gpu: Gpu, dtype: DType) -> float:
    return roofline.time_s(cost, _changed(gpu), dtype)


def bound(cost: Cost, gpu: Gpu, dtype: DType) -> str:
    return roofline.bound(cost, _changed(gpu), dtype)
