"""A layer with a window is taken to hold a full window always."""

from specs import KvCacheBytes, Model

from ..activations import kv_cache_bytes as right

EXERCISE = "kv_cache_bytes"
HINT = "A sequence that is shorter than the window fills only its own length."
FAILS = (
    "test_a_sliding_window_caps_the_tokens",
    "test_only_some_layers_may_have_the_window",
    "test_any_window",
)


def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: str) -> KvCacheBytes:
    if model.attention.kind == "latent":
        return right(model, sequence, batch, dtype)
    if not model.windowed_layers:
        return right(model, sequence, batch, dtype)
    windowless = model.attention.model_copy(update={"window": None, "windowed_layers": None})
    one = right(model.model_copy(update={"attention": windowless, "layers": 1}), 1, batch, dtype).keys
    windowed, window = model.windowed_layers, model.attention.window
    keys = one * ((model.layers - windowed) * sequence + windowed * window)
    return KvCacheBytes(keys=keys, values=keys, latent=0, rotary_keys=0)
