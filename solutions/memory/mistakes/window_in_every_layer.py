"""The window is applied in layers that have none."""

from specs import KvCacheBytes, Model

from ..activations import kv_cache_bytes as right

EXERCISE = "kv_cache_bytes"
HINT = (
    "Only some layers have the window here: model.windowed_layers says how many. The others keep all tokens."
)
FAILS = ("test_only_some_layers_may_have_the_window", "test_any_window")


def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: str) -> KvCacheBytes:
    if model.attention.kind == "latent":
        return right(model, sequence, batch, dtype)
    attention = model.attention.model_copy(update={"windowed_layers": None})
    return right(model.model_copy(update={"attention": attention}), sequence, batch, dtype)
