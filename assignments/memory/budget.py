# %% [markdown]
# # The whole bill, and who can pay it
#
# Section 10 of the handout, `README.md`: the formulas and one worked number each.

# %%
"""The memory bill of a training run or of serving a model, and the GPUs that can hold it."""

import math
from collections.abc import Sequence

from specs import DTYPE_BYTES, DType, Gpu, InferenceMemory, StateBytes, TrainingMemory


# %%
def training_memory(parameters: int, state: StateBytes, activation_bytes: float) -> TrainingMemory:
    """The bill of training a model on one GPU, by term.

    Args:
        parameters: parameters of the model.
        state: bytes that one parameter costs, as `state_bytes_per_parameter` returns them.
        activation_bytes: activations kept for the backward pass, in bytes, over all layers; bytes already,
            so nothing is left to multiply.

    Returns:
        TrainingMemory(weights, gradients, master, moments, activations), in bytes: the four terms of the
        state for all parameters, and the activations. Bytes, and neither GB nor GiB.

    Source: ZeRO (Rajbhandari et al. 2020), section 3.
    """
    raise NotImplementedError("write me")


# %%
def inference_memory(parameters: int, weights: DType, kv_cache_bytes: float) -> InferenceMemory:
    """The bill of serving a model on one GPU, by term.

    Args:
        parameters: parameters of the model.
        weights: the format in which they are stored; `DTYPE_BYTES[weights]` is the size of one, half a byte
            for the formats of 4 bits.
        kv_cache_bytes: key-value cache of all sequences that are served at once, in bytes.

    Returns:
        InferenceMemory(weights, kv_cache), in bytes; integer or float. No gradients, no master copy, no
        moments.
    """
    raise NotImplementedError("write me")


# %%
def surviving_gpus(total_bytes: float, gpus: Sequence[Gpu]) -> list[str]:
    """Names of the GPUs of which a single one holds the bill.

    Args:
        total_bytes: the bill, in bytes.
        gpus: the GPUs to try. `memory_bytes` is what a program can see of a card; `memory_label_gb` is the
            number on the box, which is neither that in GB nor that in GiB.

    Returns:
        `name` of every GPU whose `memory_bytes` hold the bill, in the order given; an exact fit holds it. An
        empty list when none does.
    """
    raise NotImplementedError("write me")


# %%
def gpus_needed(total_bytes: float, gpu: Gpu) -> int:
    """How many of one GPU's memories the bill fills, as if it could be cut anywhere at no cost.

    Args:
        total_bytes: the bill, in bytes.
        gpu: the card; `memory_bytes` of each can be filled, to the last one.

    Returns:
        The smallest number of cards whose `memory_bytes` together hold the bill; at least 1.
    """
    raise NotImplementedError("write me")
