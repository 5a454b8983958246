"""The width of a head is computed as hidden / heads."""

from specs import KvCacheBytes, Model

from ..activations import kv_cache_bytes as right

EXERCISE = "kv_cache_bytes"
HINT = "A head's width is a choice of its own, attention.head_dim: hidden / heads is another number here."
FAILS = (
    "test_one_token_under_multi_query_and_multi_head_attention",
    "test_only_some_layers_may_have_the_window",
    "test_any_grouped_attention_in_any_format",
    "test_any_window",
)


def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: str) -> KvCacheBytes:
    if model.attention.kind == "latent":
        return right(model, sequence, batch, dtype)
    guessed = model.hidden / model.attention.heads
    got = right(model, sequence, batch, dtype)
    keys = got.keys / model.attention.head_dim * guessed
    return KvCacheBytes(keys=keys, values=keys, latent=0, rotary_keys=0)
