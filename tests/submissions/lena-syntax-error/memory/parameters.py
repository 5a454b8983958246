"""Parameters: a shape from a count, the count of a dense transformer by part, and of a mixture of experts."""

from specs import ExpertParameterCount, GroupedAttention, LatentAttention, Model, ModelShape, ParameterCount


def shape_from_parameter_count(n: int) -> ModelShape:
    # N = 12 * L * (128 L)^2 = 196608 * L^3
    L = max(round((n / 196608) ** (1 / 3)), 1)
    return ModelShape(layers=L, hidden=128 * L)


def count_attention(m: Model) -> int:
    att, d = m.attention, m.hidden
    q = att.heads * att.head_dim
    kv = att.kv_heads * att.head_dim
    n = d * q + 2 * d * kv + q * d
    if att.qkv_bias:
        n += q + kv + kv
    if att.output_bias:
        n += d
    if att.qk_norm:
        n += 2 * att.head_dim
    if att.sinks:
        n += att.heads
    return n


def count_latent_attention(m: Model) -> int:
    att, d = m.attention, m.hidden
    q_out = att.heads * (att.qk_nope_head_dim + att.qk_rope_head_dim)
    if att.q_lora_rank is None:
        q = d * q_out
    else:
        q = d * att.q_lora_rank + att.q_lora_rank + att.q_lora_rank * q_out
    down = d * (att.kv_lora_rank + att.qk_rope_head_dim) + att.kv_lora_rank
    up = att.kv_lora_rank * att.heads * (att.qk_nope_head_dim + att.v_head_dim)
    out = att.heads * att.v_head_dim * d
    return q + down + up + out


def count_mlp(d: int, ff: int, gated: bool, bias: bool) -> int:
    n = 3 * d * ff if gated else 2 * d * ff
    if bias:
        n += 2 * ff + d if gated else ff + d
    return n


def count_norms(m: Model) -> int:
    how_many = m.layers * m.norms_per_layer
    if m.final_norm:
        how_many += 1
    return how_many * m.hidden * (2 if m.norm_bias else 1)


def count_head(m: Model) -> int:
    n = 0 if m.tied_embeddings else m.vocab * m.hidden
    if m.head_bias
        n += m.vocab
    return n


def parameter_count(model: Model) -> ParameterCount:
    return ParameterCount(
        token_embedding=model.vocab * model.hidden,
        position_embedding=model.learned_positions * model.hidden,
        attention=model.layers * count_attention(model),
        mlp=model.layers * count_mlp(model.hidden, model.mlp.intermediate, model.mlp.gated, model.mlp.bias),
        norms=count_norms(model),
        output_head=count_head(model),
    )


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    ex, d = model.experts, model.hidden
    if model.attention.kind == "latent":
        attention = count_latent_attention(model)
    else:
        attention = count_attention(model)
    sparse = model.layers - ex.dense_layers
    always = model.vocab * d + model.learned_positions * d + count_head(model) + count_norms(model)
    always += model.layers * attention
    if ex.dense_layers > 0:
        always += ex.dense_layers * count_mlp(d, model.mlp.intermediate, model.mlp.gated, model.mlp.bias)
    router = d * ex.count
    if ex.router_bias:
        router += ex.count
    if ex.router_correction_bias:
        router += ex.count
    always += sparse * router
    always += sparse * ex.shared * count_mlp(d, ex.shared_intermediate, ex.gated, False)
    expert = count_mlp(d, ex.intermediate, ex.gated, ex.bias)
    return ExpertParameterCount(
        always_used=always,
        routed=sparse * ex.count * expert,
        routed_active=sparse * ex.active * expert,
    )
