"""Weights are billed at 2 bytes whatever their format."""

from specs import DType, InferenceMemory

from ..budget import inference_memory as right

EXERCISE = "memory_budget"
HINT = "Your weights cost 2 bytes in every format. DTYPE_BYTES knows the format that is asked for."
FAILS = ("test_serving_costs_the_weights_and_the_cache", "test_any_bill")


def inference_memory(parameters: int, weights: DType, kv_cache_bytes: float) -> InferenceMemory:
    return right(parameters, "bf16", kv_cache_bytes)
