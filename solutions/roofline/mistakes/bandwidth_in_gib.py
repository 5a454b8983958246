"""Bandwidth in GB/s is taken as GiB/s."""

from specs import Cost, DType, Gpu

from .. import roofline

EXERCISE = "roofline_model"
HINT = "Bandwidth is decimal: 1 GB/s is 1e9 bytes a second. Only the sizes of memories are binary."
FAILS = (
    "test_ridges_of_real_cards",
    "test_any_card",
    "test_the_roof_rises_to_the_ridge_and_is_flat_beyond",
    "test_any_roof",
    "test_the_longer_bill_is_the_time",
    "test_any_time",
)


def _changed(gpu: Gpu) -> Gpu:
    return gpu.model_copy(update={"hbm_gb_per_s": gpu.hbm_gb_per_s * 2**30 / 1e9})


def ridge_point(gpu: Gpu, dtype: DType) -> float:
    return roofline.ridge_point(_changed(gpu), dtype)


def attainable_flops(intensity: float, gpu: Gpu, dtype: DType) -> float:
    return roofline.attainable_flops(intensity, _changed(gpu), dtype)


def time_s(cost: Cost, gpu: Gpu, dtype: DType) -> float:
    return roofline.time_s(cost, _changed(gpu), dtype)


def bound(cost: Cost, gpu: Gpu, dtype: DType) -> str:
    return roofline.bound(cost, _changed(gpu), dtype)
