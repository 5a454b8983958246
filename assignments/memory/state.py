# %% [markdown]
# # Training state: what every parameter drags along
#
# Exercises 1, 2, 8 and 9. The formulas and one worked number each are in the handout, `README.md`.

# %%
"""Training state: bytes per parameter, when a bf16 step vanishes, adapters, ZeRO."""

from specs import DTYPE_BYTES, Recipe, StateBytes

# %%
def state_bytes_per_parameter(recipe: Recipe) -> StateBytes:
    """Bytes of training state that one parameter costs under `recipe`.

    Args:
        recipe: which copies of a parameter are kept, and in which format; `DTYPE_BYTES[recipe.weights]` is the size
            of one weight. A field that is None is not kept and costs nothing.

    Returns:
        StateBytes(weights, gradients, master, moments), in bytes per parameter. `gradients` includes the
        accumulation buffer where the recipe has one; `moments` is the sum over the optimizer's moments.

    Source: ZeRO (Rajbhandari et al. 2020), section 3.1.
    """
    raise NotImplementedError("write me")
