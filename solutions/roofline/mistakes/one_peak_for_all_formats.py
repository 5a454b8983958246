"""The bf16 peak whatever the format."""

from specs import Cost, DType, Gpu

from .. import roofline

EXERCISE = "roofline_model"
HINT = "A card has a peak for each format, and fp32 has a much lower one than bf16. Is dtype looked at?"
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


def ridge_point(gpu: Gpu, dtype: DType) -> float:
    return roofline.ridge_point(gpu, "bf16")


def attainable_flops(intensity: float, gpu: Gpu, dtype: DType) -> float:
    return roofline.attainable_flops(intensity, gpu, "bf16")


def time_s(cost: Cost, gpu: Gpu, dtype: DType) -> float:
    return roofline.time_s(cost, gpu, "bf16")


def bound(cost: Cost, gpu: Gpu, dtype: DType) -> str:
    return roofline.bound(cost, gpu, "bf16")
