"""The sequence is forgotten."""

from specs import KvCacheBytes, Model

from ..activations import kv_cache_bytes as right

EXERCISE = "kv_cache_bytes"
HINT = "This is what one token costs. How many tokens does a sequence have?"
FAILS = (
    "test_grows_with_the_sequence_and_with_the_batch",
    "test_a_sliding_window_caps_the_tokens",
    "test_only_some_layers_may_have_the_window",
    "test_any_grouped_attention_in_any_format",
    "test_any_window",
)


def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: str) -> KvCacheBytes:
    if model.attention.kind == "latent":
        return right(model, sequence, batch, dtype)
    return right(model, 1, batch, dtype)
