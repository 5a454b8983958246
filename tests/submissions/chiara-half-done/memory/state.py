# %% [markdown]
# # Training state: what every parameter drags along
#
# Sections 1, 2, 8 and 9 of the handout, `README.md`: the formulas and one worked number each.

# %%
"""Training state: bytes per parameter, when a bf16 step vanishes, adapters, ZeRO."""

from collections.abc import Sequence
from typing import Literal

from specs import DTYPE_BYTES, AdapterStateBytes, DType, Recipe, StateBytes, ZeroStateBytes

Offload = Literal["none", "optimizer", "all"]


# %%
def state_bytes_per_parameter(recipe: Recipe) -> StateBytes:
    """Bytes of training state that one parameter costs under `recipe`.

    Args:
        recipe: which copies of a parameter are kept, and in which format; `DTYPE_BYTES[recipe.weights]` is
            the size of one weight. A field that is None is not kept and costs nothing.

    Returns:
        StateBytes(weights, gradients, master, moments), in bytes per parameter. `gradients` is the gradient
        and, where the recipe has one, the accumulation buffer beside it; `moments` is the sum over the
        optimizer's moments, however many there are.

    Source: ZeRO (Rajbhandari et al. 2020), section 3.1.
    """
    gradients = DTYPE_BYTES[recipe.gradients] if recipe.gradients else 0
    if recipe.gradient_accumulation:
        gradients += DTYPE_BYTES[recipe.gradient_accumulation]
    return StateBytes(
        weights=DTYPE_BYTES[recipe.weights],
        gradients=gradients,
        master=DTYPE_BYTES[recipe.master] if recipe.master else 0,
        moments=sum(DTYPE_BYTES[m] for m in recipe.moments),
    )


# %%
def bf16_update_lost(weight: float, update: float) -> bool:
    """Whether a step vanishes when the weight is kept in bf16 and nowhere else.

    A bf16 number has 8 significant bits, the leading 1 included, and the exponents of fp32. So for
    2^e <= |x| < 2^(e+1) neighbours are 2^(e-7) apart, and never closer than 2^-133, the step of the smallest
    numbers, zero among them. Below a power of two they are half as far apart as above it.

    Args:
        weight: a number that bf16 holds exactly; zero and negative ones too.
        update: what is added to it, any finite number in the range of fp32; zero and negative ones too.

    Returns:
        True when the exact sum weight + update, rounded once to the nearest bf16 number, is the weight
        again. Halfway between two neighbours the one whose last bit is 0 wins (ties to even). An update of 0
        is lost. The sum must not be rounded on the way: Python's float, which is fp64, is fine enough for
        every check, fp32 is not. The sum is never beyond the largest bf16 number.

    Source: IEEE 754, round to nearest, ties to even; Mixed Precision Training (Micikevicius et al. 2018),
    section 3.1, on why a master copy is kept.
    """
    from math import frexp

    exact = weight + update
    step = 2.0 ** max(frexp(exact)[1] - 8, -133)
    return round(exact / step) * step == weight


# %%
def adapter_state_bytes(
    base_parameters: int, matrices: Sequence[tuple[int, int]], rank: int, recipe: Recipe
) -> AdapterStateBytes:
    """Bytes of training state when low-rank adapters are trained and the base model is frozen (LoRA, QLoRA).

    Args:
        base_parameters: parameters of the frozen base model.
        matrices: (in, out) of every base matrix that gets an adapter, one entry a matrix. The adapter is two
            thin matrices, (in, rank) and (rank, out).
        rank: rank of the adapters.
        recipe: `recipe.adapters`, never None here, says how the base is stored; the other fields say how the
            adapters are trained. A format that is None is not kept and costs nothing.

    Returns:
        AdapterStateBytes, in bytes of the whole model:
        - frozen_weights: the base in the format `recipe.adapters.frozen_weights`, 4 bits being half a byte;
        - quantization_constants: 0 if `quantization_block` is None. Else every `quantization_block` base
          parameters share one constant, which is an fp32 if `double_quantization_block` is None. Else a
          constant takes 1 byte, and every `double_quantization_block` constants share one fp32 more;
        - adapter_weights, gradients, master, moments: of the adapters' parameters only, by the recipe;
          gradients include the accumulation buffer where there is one.
        Blocks are counted as exact fractions, no block is rounded up; so bytes may be fractional, and floats
        are as good as integers.

    Source: LoRA (Hu et al. 2021), section 4.1; QLoRA (Dettmers et al. 2023), section 3.
    """
    raise NotImplementedError("write me")


# %%
def zero_state_bytes(
    parameters: int,
    recipe: Recipe,
    gpus: int,
    stage: int,
    offload: Offload = "none",
    largest_layer_parameters: int = 0,
) -> ZeroStateBytes:
    """Bytes of training state that one GPU holds when `gpus` data-parallel GPUs share it by ZeRO.

    Args:
        parameters: parameters of the whole model.
        recipe: how each parameter's state is kept (`recipe.adapters` is None here).
        gpus: GPUs that share the state, at least 1.
        stage: 0, every GPU holds everything; 1, master copy and moments are sharded; 2, gradients too, with
            the accumulation buffer where there is one; 3, weights too.
        offload: what lives in host memory, and so takes 0 bytes of the GPU, at any stage: "none";
            "optimizer", which is gradients, accumulation buffer, master copy and moments; "all", which is
            these and the weights.
        largest_layer_parameters: parameters of the largest layer, which only stage 3 asks about.

    Returns:
        ZeroStateBytes(weights, gradients, master, moments, gathered), in bytes on one GPU. What is sharded is
        divided by `gpus` exactly: nothing is rounded or padded, so bytes may be fractional. `gathered` is
        what stage 3 has fetched at the moment, 0 at other stages: the largest layer's weights, whole, and as
        many gradients in the weights' format. It is on every GPU whatever the offload, and not divided.

    Source: ZeRO (Rajbhandari et al. 2020), section 5 and table 1; `gathered` and offload as in the memory
    estimators of DeepSpeed.
    """
    raise NotImplementedError("write me")
