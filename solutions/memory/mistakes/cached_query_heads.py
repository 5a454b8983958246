"""A key and a value are cached for each query head."""

from specs import KvCacheBytes, Model

from ..activations import kv_cache_bytes as right

EXERCISE = "kv_cache_bytes"
HINT = "Query heads share keys and values: a layer has kv_heads of them, not heads."
FAILS = (
    "test_one_token_under_multi_query_and_multi_head_attention",
    "test_one_token_under_grouped_attention",
    "test_follows_the_number_format",
    "test_a_sliding_window_caps_the_tokens",
    "test_only_some_layers_may_have_the_window",
    "test_any_grouped_attention_in_any_format",
    "test_any_window",
)


def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: str) -> KvCacheBytes:
    if model.attention.kind == "latent":
        return right(model, sequence, batch, dtype)
    attention = model.attention.model_copy(update={"kv_heads": model.attention.heads})
    return right(model.model_copy(update={"attention": attention}), sequence, batch, dtype)
