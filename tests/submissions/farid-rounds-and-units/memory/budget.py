"""The memory bill of a training run or of serving a model, and the GPUs that can hold it."""

from collections.abc import Sequence

from specs import DTYPE_BYTES, DType, Gpu, InferenceMemory, StateBytes, TrainingMemory


def training_memory(parameters: int, state: StateBytes, activation_bytes: float) -> TrainingMemory:
    return TrainingMemory(
        weights=state.weights * parameters,
        gradients=state.gradients * parameters,
        master=state.master * parameters,
        moments=state.moments * parameters,
        activations=activation_bytes,
    )


def inference_memory(parameters: int, weights: DType, kv_cache_bytes: float) -> InferenceMemory:
    return InferenceMemory(weights=DTYPE_BYTES[weights] * parameters, kv_cache=kv_cache_bytes)


def surviving_gpus(total_bytes: float, gpus: Sequence[Gpu]) -> list[str]:
    alive = []
    for gpu in gpus:
        if total_bytes <= gpu.memory_bytes:
            alive.append(gpu.name)
    return alive


def gpus_needed(total_bytes: float, gpu: Gpu) -> int:
    return max(int(total_bytes // gpu.memory_bytes), 1)
