"""The sliding window is ignored."""

from specs import KvCacheBytes, Model

from ..activations import kv_cache_bytes as right

EXERCISE = "kv_cache_bytes"
HINT = "Attention never looks back beyond its window, so a layer that has one need not keep older tokens."
FAILS = (
    "test_a_sliding_window_caps_the_tokens",
    "test_only_some_layers_may_have_the_window",
    "test_any_window",
)


def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: str) -> KvCacheBytes:
    if model.attention.kind == "latent":
        return right(model, sequence, batch, dtype)
    attention = model.attention.model_copy(update={"window": None, "windowed_layers": None})
    return right(model.model_copy(update={"attention": attention}), sequence, batch, dtype)
