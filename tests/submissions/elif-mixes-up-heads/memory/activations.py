"""What grows with the sequence: activations kept for the backward pass, and the key-value cache."""

from typing import Literal

from specs import DTYPE_BYTES, ActivationBytes, DType, KvCacheBytes, Model


def activation_bytes(
    layers: int,
    hidden: int,
    heads: int,
    sequence: int,
    batch: int,
    recomputation: Literal["none", "selective", "full"],
) -> ActivationBytes:
    sbh = sequence * batch * hidden
    if recomputation == "full":
        # only the layer inputs survive
        return ActivationBytes(attention=0, attention_scores=0, mlp=0, norms=0, layer_inputs=2 * sbh * layers)
    return ActivationBytes(
        attention=11 * sbh * layers,
        attention_scores=0,  # flash attention never stores them
        mlp=19 * sbh * layers,
        norms=4 * sbh * layers,
        layer_inputs=0,
    )


def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: DType) -> KvCacheBytes:
    a = model.attention
    size = DTYPE_BYTES[dtype]
    if a.kind == "latent":
        n = batch * sequence * model.layers
        return KvCacheBytes(
            keys=0, values=0, latent=n * a.kv_lora_rank * size, rotary_keys=n * a.qk_rope_head_dim * size
        )
    windowed = model.windowed_layers
    tokens = (model.layers - windowed) * sequence
    if windowed > 0:
        tokens += windowed * min(sequence, a.window)
    one = batch * tokens * a.heads * a.head_dim * size
    return KvCacheBytes(keys=one, values=one, latent=0, rotary_keys=0)
