"""Weights are billed in bits."""

from specs import DType, InferenceMemory

from ..budget import inference_memory as right

EXERCISE = "memory_budget"
HINT = "Your weights are 8 times too large: those are bits."
FAILS = ("test_serving_costs_the_weights_and_the_cache", "test_any_bill")


def inference_memory(parameters: int, weights: DType, kv_cache_bytes: float) -> InferenceMemory:
    terms = right(parameters, weights, kv_cache_bytes)
    return terms.model_copy(update={"weights": 8 * terms.weights})
