"""The keys and values of all heads are cached, not what they are rebuilt from."""

from specs import DTYPE_BYTES, KvCacheBytes, Model

from ..activations import kv_cache_bytes as right

EXERCISE = "latent_kv_cache_bytes"
HINT = (
    "These are the keys and values after the up projection. Latent attention caches what goes into it "
    "instead."
)
FAILS = (
    "test_one_token_under_latent_attention",
    "test_a_latent_cache_grows_with_sequence_and_batch",
    "test_a_latent_cache_does_not_depend_on_the_heads",
    "test_any_latent_attention",
)


def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: str) -> KvCacheBytes:
    if model.attention.kind != "latent":
        return right(model, sequence, batch, dtype)
    attention = model.attention
    values = batch * sequence * model.layers * DTYPE_BYTES[dtype] * attention.heads
    key_width = attention.qk_nope_head_dim + attention.qk_rope_head_dim
    keys = values * key_width
    return KvCacheBytes(keys=keys, values=values * attention.v_head_dim, latent=0, rotary_keys=0)
