"""The peak with 2:4 sparsity, twice what a dense matmul can reach."""

from specs import Cost, DType, Gpu

from .. import roofline

EXERCISE = "roofline_model"
HINT = (
    "That is the peak with structured sparsity, the large print of the data sheet. gpu.peak_flops is "
    "the dense one already."
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
    return gpu.model_copy(
        update={"dense_tflops": {name: 2 * rate for name, rate in gpu.dense_tflops.items()}}
    )


def ridge_point(gpu: Gpu, dtype: DType) -> float:
    return roofline.ridge_point(_changed(gpu), dtype)


def attainable_flops(intensity: float, gpu: Gpu, dtype: DType) -> float:
    return roofline.attainable_flops(intensity, _changed(gpu), dtype)


def time_s(cost: Cost, gpu: Gpu, dtype: DType) -> float:
    return roofline.time_s(cost, _changed(gpu), dtype)


def bound(cost: Cost, gpu: Gpu, dtype: DType) -> str:
    return roofline.bound(cost, _changed(gpu), dtype)
