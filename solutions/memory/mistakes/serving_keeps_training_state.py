"""A served model is billed with gradients, master copy and moments, 14 bytes a parameter more."""

from specs import DType, InferenceMemory

from ..budget import inference_memory as right

EXERCISE = "memory_budget"
HINT = "Serving updates nothing: which of the 16 bytes are left when nothing is trained?"
FAILS = ("test_serving_costs_the_weights_and_the_cache", "test_any_bill")


def inference_memory(parameters: int, weights: DType, kv_cache_bytes: float) -> InferenceMemory:
    terms = right(parameters, weights, kv_cache_bytes)
    return terms.model_copy(update={"weights": terms.weights + 14 * parameters})
