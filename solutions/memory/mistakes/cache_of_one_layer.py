"""One layer is counted instead of all: the average one, where only some layers have a window."""

from specs import KvCacheBytes, Model

from ..activations import kv_cache_bytes as right

EXERCISE = "kv_cache_bytes"
HINT = "Every layer has keys and values of its own."
FAILS = (
    "test_one_token_under_multi_query_and_multi_head_attention",
    "test_one_token_under_grouped_attention",
    "test_grows_with_the_sequence_and_with_the_batch",
    "test_follows_the_number_format",
    "test_a_sliding_window_caps_the_tokens",
    "test_only_some_layers_may_have_the_window",
    "test_any_grouped_attention_in_any_format",
    "test_any_window",
)


def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: str) -> KvCacheBytes:
    if model.attention.kind == "latent":
        return right(model, sequence, batch, dtype)
    got = right(model, sequence, batch, dtype)
    keys = got.keys / model.layers
    return KvCacheBytes(keys=keys, values=keys, latent=0, rotary_keys=0)
