# %% [markdown]
# # What grows with the sequence: activations and the key-value cache
#
# Sections 6 and 7 of the handout, `README.md`: the formulas and one worked number each.

# %%
"""What grows with the sequence: activations kept for the backward pass, and the key-value cache."""

from typing import Literal

from specs import DTYPE_BYTES, ActivationBytes, DType, KvCacheBytes, Model


# %%
def activation_bytes(
    layers: int,
    hidden: int,
    heads: int,
    sequence: int,
    batch: int,
    recomputation: Literal["none", "selective", "full"],
) -> ActivationBytes:
    """Bytes of activations that a GPT keeps from the forward to the backward pass, over all its layers.

    The layer of the paper: norm, attention, dropout; norm, MLP (hidden → 4·hidden → hidden, GeLU between),
    dropout; and one more dropout behind the softmax. One GPU, no parallelism. An activation takes 2 bytes
    (16 bit), an element of a dropout mask 1 byte. What is outside the layers (embedding, final norm, logits)
    does not count.

    With s = sequence, b = batch, h = hidden, a = heads, one layer keeps, in bytes:
        attention         11·s·b·h: the input that Q, K and V share 2, Q and K 4, V 2, the input of the output
                          projection 2, the mask of the dropout behind it 1
        attention_scores  5·a·s²·b, each head having an s × s matrix: softmax output 2, dropout mask 1,
                          dropout output 2
        mlp               19·s·b·h: inputs of the two linears 2 + 8, input of the GeLU 8, dropout mask 1
        norms             4·s·b·h: inputs of the two norms, 2 each

    Args:
        layers: number of layers.
        hidden: width of the residual stream.
        heads: attention heads.
        sequence: tokens in a sequence.
        batch: sequences in a micro-batch.
        recomputation: "none": all of the above is kept.
            "selective": what `attention_scores` counts is computed again in the backward pass instead of
            kept; all the rest is kept.
            "full": each layer is computed again from its input, and nothing but that input is kept,
            2·s·b·h bytes a layer.

    Returns:
        ActivationBytes(attention, attention_scores, mlp, norms, layer_inputs): integers, bytes over all
        layers. What is not kept is 0. Only under "full" is `layer_inputs` not 0, and then every other term
        is.

    Source: Korthikanti et al. 2022 (arXiv 2205.05198), sections 4.1 and 5.
    """
    sbh = sequence * batch * hidden
    if recomputation == "full":
        # only the layer inputs survive
        return ActivationBytes(attention=0, attention_scores=0, mlp=0, norms=0, layer_inputs=2 * sbh * layers)
    scores = 5 * heads * sequence * sequence * batch
    if recomputation == "selective":
        scores = 0
    return ActivationBytes(
        attention=11 * sbh * layers,
        attention_scores=scores * layers,
        mlp=19 * sbh * layers,
        norms=4 * sbh * layers,
        layer_inputs=0,
    )


# %%
def kv_cache_bytes(model: Model, sequence: int, batch: int, dtype: DType) -> KvCacheBytes:
    """Bytes of the key-value cache that `batch` sequences of `sequence` tokens each fill, over all layers.

    Grouped attention (`model.attention.kind == "grouped"`): for every token a layer keeps one key and one
    value for each of its `kv_heads`, each `head_dim` wide. A layer with a sliding window keeps the last
    `window` tokens of each sequence and no more; while the sequence is shorter, it keeps the whole of it.
    `model.windowed_layers` of the layers have the window (0 if the model has none; where
    `model.attention.windowed_layers` is None and there is a window, it is every layer). The other layers keep
    all tokens.

    Latent attention (`model.attention.kind == "latent"`; section 7, extra credit): for every token a layer
    keeps one compressed vector, `kv_lora_rank` wide, and one rotary key, `qk_rope_head_dim` wide. All heads
    share the two, and there are no other keys and values. Until you come to this, raise NotImplementedError
    for such a model; the extra credit then counts as still to do.

    Args:
        model: the architecture; `specs/model.py` says how heads and windows are written down.
        sequence: tokens in each sequence, at least 1.
        batch: sequences in the cache.
        dtype: format of a cached value; `DTYPE_BYTES[dtype]` is its size in bytes, and may be 0.5.

    Returns:
        KvCacheBytes(keys, values, latent, rotary_keys), in bytes. A term that the attention does not have is
        0: latent and rotary_keys under grouped attention, keys and values under latent attention.
        Quantisation constants and the half-empty pages of a paged cache do not count. Attention sinks are
        parameters, not tokens.

    Source: multi-query, Shazeer 2019 (arXiv 1911.02150); grouped, Ainslie et al. 2023 (2305.13245); window,
    Mistral 7B (2310.06825), section 2; latent, DeepSeek-V2 (2405.04434), section 2.1 and table 1.
    """
    raise NotImplementedError("write me")
