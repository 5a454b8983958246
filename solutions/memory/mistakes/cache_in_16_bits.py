"""Two bytes a value are taken, whatever the format."""

from specs import KvCacheBytes, Model

from ..activations import kv_cache_bytes as right

EXERCISE = "kv_cache_bytes"
HINT = "dtype says in which format the cache is kept: DTYPE_BYTES has its size."
FAILS = ("test_follows_the_number_format", "test_any_grouped_attention_in_any_format")


def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: str) -> KvCacheBytes:
    if model.attention.kind == "latent":
        return right(model, sequence, batch, dtype)
    return right(model, sequence, batch, "bf16")
