"""The window is taken to hold the tokens of all sequences together."""

from specs import KvCacheBytes, Model

from ..activations import kv_cache_bytes as right

EXERCISE = "kv_cache_bytes"
HINT = "Each sequence of the batch has a window of its own: cap the tokens first, then multiply by the batch."
FAILS = ("test_any_window", "test_only_some_layers_may_have_the_window")


def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: str) -> KvCacheBytes:
    if model.attention.kind == "latent":
        return right(model, sequence, batch, dtype)
    if not model.windowed_layers:
        return right(model, sequence, batch, dtype)
    return right(model, sequence * batch, 1, dtype)
