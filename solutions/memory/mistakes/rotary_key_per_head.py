"""The rotary key is cached once for each head."""

from specs import KvCacheBytes, Model

from ..activations import kv_cache_bytes as right

EXERCISE = "latent_kv_cache_bytes"
HINT = "The rotary key is one for all heads: it is cached once a token and layer."
FAILS = (
    "test_one_token_under_latent_attention",
    "test_a_latent_cache_grows_with_sequence_and_batch",
    "test_a_latent_cache_does_not_depend_on_the_heads",
    "test_any_latent_attention",
)


def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: str) -> KvCacheBytes:
    if model.attention.kind != "latent":
        return right(model, sequence, batch, dtype)
    got = right(model, sequence, batch, dtype)
    return got.model_copy(update={"rotary_keys": got.rotary_keys * model.attention.heads})
