"""How each Hugging Face family writes its architecture down: fields of its config.json as those of `Model`.

A default here is the one of the family's own configuration class, for a file that leaves the field out.
"""

from collections.abc import Callable

from specs.hf_fields import HARMLESS_IN_MPT_ATTENTION, Fields, HfFields


def _gpt2(config: HfFields) -> Fields:
    d, heads = config.count("n_embd"), config.count("n_head")
    return {
        "hidden": d,
        "layers": config.count("n_layer"),
        "vocab": config.count("vocab_size"),
        "tied_embeddings": config.flag("tie_word_embeddings", True),
        "learned_positions": config.count("n_positions"),
        "norm": "layernorm",
        "norm_bias": True,
        "attention": {
            "kind": "grouped",
            "heads": heads,
            "kv_heads": heads,
            "head_dim": _split(config, d, heads, "n_embd", "n_head"),
            "qkv_bias": True,
            "output_bias": True,
        },
        "mlp": {"intermediate": config.count("n_inner", 4 * d), "gated": False, "bias": True},
    }


def _mpt(config: HfFields) -> Fields:
    """The rules are those of llm-foundry, which trained them: ALiBi and rotary replace learned positions."""
    d, heads = config.count("d_model"), config.count("n_heads")
    biased = not config.flag("no_bias")
    attention = config.part("attn_config")
    kind = attention.only(
        "attn_type", "multihead_attention", "multiquery_attention", "grouped_query_attention"
    )
    kv_heads = {"multihead_attention": heads, "multiquery_attention": 1}.get(kind)
    if kv_heads is None:
        kv_heads = attention.count("kv_n_heads")
    else:
        attention.only("kv_n_heads", None, kv_heads)
    for field in ("qk_ln", "qk_gn"):
        attention.only(field, False)
    attention.only("sliding_window_size", -1)
    alibi, rope = attention.flag("alibi"), attention.flag("rope", False)
    attention.finish(HARMLESS_IN_MPT_ATTENTION)
    block = config.part("ffn_config")
    block.only("ffn_type", "mptmlp")
    block.only("ffn_hidden_size", None)
    block.finish(frozenset({"fc_type", "model_type"}))
    norm = config.only(
        "norm_type", "low_precision_layernorm", "layernorm", "low_precision_rmsnorm", "rmsnorm"
    )
    positions = config.count("max_seq_len")
    learned = config.flag("learned_pos_emb", True) and not alibi and not rope
    norm = "rmsnorm" if norm.endswith("rmsnorm") else "layernorm"
    return {
        "hidden": d,
        "layers": config.count("n_layers"),
        "vocab": config.count("vocab_size"),
        "tied_embeddings": config.flag("tie_word_embeddings", True),
        "learned_positions": positions if learned else 0,
        "norm": norm,
        "norm_bias": biased and norm == "layernorm",
        "attention": {
            "kind": "grouped",
            "heads": heads,
            "kv_heads": kv_heads,
            "head_dim": _split(config, d, heads, "d_model", "n_heads"),
            "qkv_bias": biased,
            "output_bias": biased,
        },
        "mlp": {"intermediate": config.count("expansion_ratio", 4) * d, "gated": False, "bias": biased},
    }


def _llama(config: HfFields) -> Fields:
    biased = config.flag("attention_bias", False)
    attention = _grouped(config, kv_heads_default=True, qkv_bias=biased, output_bias=biased)
    return _trunk(config) | {"attention": attention, "mlp": _mlp(config, bias=config.flag("mlp_bias", False))}


def _mistral(config: HfFields) -> Fields:
    config.only("attention_bias", False)
    attention = _grouped(config) | _window(config, config.count("num_hidden_layers"), default=4096)
    return _trunk(config) | {"attention": attention, "mlp": _mlp(config)}


def _mixtral(config: HfFields) -> Fields:
    config.only("attention_bias", False)
    attention = _grouped(config) | _window(config, config.count("num_hidden_layers"))
    experts = {
        "count": config.count("num_local_experts"),
        "active": config.count("num_experts_per_tok"),
        "intermediate": config.count("intermediate_size"),
    }
    return _trunk(config) | {"attention": attention, "experts": experts}


def _qwen2(config: HfFields) -> Fields:
    config.only("attention_bias", True)
    attention = _grouped(config, qkv_bias=True) | _qwen_window(config)
    return _trunk(config) | {"attention": attention, "mlp": _mlp(config)}


def _qwen3_attention(config: HfFields, head_dim_default: int | None) -> Fields:
    biased = config.flag("attention_bias", False)
    attention = _grouped(config, head_dim_default, qkv_bias=biased, output_bias=biased, qk_norm=True)
    return attention | _qwen_window(config)


def _qwen3(config: HfFields) -> Fields:
    return _trunk(config) | {"attention": _qwen3_attention(config, 128), "mlp": _mlp(config)}


def _qwen3_moe(config: HfFields) -> Fields:
    config.only("decoder_sparse_step", 1)
    dense = config.get("mlp_only_layers", [])
    if not isinstance(dense, list) or dense != list(range(len(dense))):
        raise config.refuse(
            "mlp_only_layers", f"{dense} is not understood; only the first layers may have no experts"
        )
    config.count("head_dim")
    experts = {
        "count": config.count("num_experts"),
        "active": config.count("num_experts_per_tok"),
        "intermediate": config.count("moe_intermediate_size"),
        "dense_layers": len(dense),
    }
    block = _mlp(config) if dense or config.get("intermediate_size") is not None else None
    parts = {"attention": _qwen3_attention(config, None), "experts": experts, "mlp": block if dense else None}
    return _trunk(config) | parts


def _gemma(config: HfFields) -> Fields:
    biased = config.flag("attention_bias", False)
    attention = _grouped(config, 256, qkv_bias=biased, output_bias=biased)
    return _trunk(config, tied_default=True) | {"attention": attention, "mlp": _mlp(config)}


def _gemma2(config: HfFields) -> Fields:
    layers = config.count("num_hidden_layers")
    config.only("sliding_window_size", None, config.get("sliding_window"))
    model = _gemma(config)
    model["attention"] |= _window(config, (layers + 1) // 2, default=4096)
    return model | {"norms_per_layer": 4}


def _phi3(config: HfFields) -> Fields:
    config.only("attention_bias", False)
    attention = _grouped(config, kv_heads_default=True) | _window(config, config.count("num_hidden_layers"))
    return _trunk(config) | {"attention": attention, "mlp": _mlp(config)}


def _gpt_oss(config: HfFields) -> Fields:
    layers = config.count("num_hidden_layers")
    biased = config.flag("attention_bias", True)
    attention = _grouped(config, 64, qkv_bias=biased, output_bias=biased, sinks=True)
    experts = {
        "count": config.count("num_local_experts"),
        "active": config.count("num_experts_per_tok"),
        "intermediate": config.count("intermediate_size"),
        "bias": True,
        "router_bias": True,
    }
    return _trunk(config) | {
        "attention": attention | _window(config, (layers + 1) // 2, 128),
        "experts": experts,
    }


def _deepseek(config: HfFields, correction: bool, *routing: str) -> Fields:
    config.only("attention_bias", False)
    config.only("moe_layer_freq", 1)
    config.only("topk_method", *routing)
    if "q_lora_rank" not in config.data:
        raise config.refuse(
            "q_lora_rank", "missing, and the number of parameters depends on it (null: no compression)"
        )
    q_lora_rank = None if config.get("q_lora_rank") is None else config.count("q_lora_rank")
    sizes = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
    attention = {field: config.count(field) for field in sizes} | {
        "kind": "latent",
        "heads": config.count("num_attention_heads"),
        "q_lora_rank": q_lora_rank,
    }
    intermediate = config.count("moe_intermediate_size")
    shared = config.get("n_shared_experts", 0) and config.count("n_shared_experts")
    dense = config.get("first_k_dense_replace", 0) and config.count("first_k_dense_replace")
    experts = {
        "count": config.count("n_routed_experts"),
        "active": config.count("num_experts_per_tok"),
        "intermediate": intermediate,
        "shared": shared,
        "shared_intermediate": intermediate if shared else 0,
        "router_correction_bias": correction,
        "dense_layers": dense,
    }
    block = _mlp(config)
    return _trunk(config) | {"attention": attention, "experts": experts, "mlp": block if dense else None}


FAMILIES: dict[str, Callable[[HfFields], Fields]] = {
    "gpt2": _gpt2,
    "llama": _llama,
    "mistral": _mistral,
    "mixtral": _mixtral,
    "qwen2": _qwen2,
    "qwen3": _qwen3,
    "qwen3_moe": _qwen3_moe,
    "gemma": _gemma,
    "gemma2": _gemma2,
    "phi3": _phi3,
    "mpt": _mpt,
    "gpt_oss": _gpt_oss,
    "deepseek_v2": lambda config: _deepseek(config, False, "greedy", "group_limited_greedy"),
    "deepseek_v3": lambda config: _deepseek(config, True, "noaux_tc"),
}


def _trunk(config: HfFields, tied_default: bool = False) -> Fields:
    """What every family since Llama has: rotary positions, RMS norms, embeddings."""
    return {
        "hidden": config.count("hidden_size"),
        "layers": config.count("num_hidden_layers"),
        "vocab": config.count("vocab_size"),
        "tied_embeddings": config.flag("tie_word_embeddings", tied_default),
        "norm": "rmsnorm",
    }


def _grouped(
    config: HfFields, head_dim_default: int | None = None, kv_heads_default: bool = False, **switches: bool
) -> Fields:
    """Grouped attention; `head_dim_default` is the family's own, None splits hidden_size among the heads."""
    d, heads = config.count("hidden_size"), config.count("num_attention_heads")
    head_dim = config.get("head_dim", head_dim_default)
    return {
        "kind": "grouped",
        "heads": heads,
        "kv_heads": config.count("num_key_value_heads", heads if kv_heads_default else None),
        "head_dim": config.count(
            "head_dim", head_dim or _split(config, d, heads, "hidden_size", "num_attention_heads")
        ),
        **switches,
    }


def _split(config: HfFields, d: int, heads: int, d_field: str, heads_field: str) -> int:
    if d % heads:
        raise config.refuse(d_field, f"{d} is not divisible by {heads_field} = {heads}")
    return d // heads


def _mlp(config: HfFields, bias: bool = False) -> Fields:
    return {"intermediate": config.count("intermediate_size"), "gated": True, "bias": bias}


def _window(config: HfFields, layers_default: int, default: int | None = None) -> Fields:
    """The sliding window, on the layers that `layer_types` names or else on `layers_default` of them.

    An explicit null means no window; `default` is the family's own where the field is absent.
    """
    window = config.get("sliding_window", default if "sliding_window" not in config.data else None)
    kinds = config.get("layer_types")
    layers = config.count("num_hidden_layers")
    windowed = layers_default
    if kinds is not None:
        known = ("sliding_attention", "full_attention")
        if not isinstance(kinds, list) or len(kinds) != layers or not all(kind in known for kind in kinds):
            raise config.refuse(
                "layer_types", f"expected sliding_attention or full_attention for each of {layers} layers"
            )
        windowed = kinds.count("sliding_attention")
    if window is None or windowed == 0:
        return {}
    return {
        "window": config.count("sliding_window", default),
        "windowed_layers": windowed if windowed < layers else None,
    }


def _qwen_window(config: HfFields) -> Fields:
    """Qwen's sliding_window is off unless use_sliding_window, and then begins at layer max_window_layers."""
    layers = config.count("num_hidden_layers")
    config.read.add("max_window_layers")
    if not config.flag("use_sliding_window", False):
        config.read |= {"sliding_window", "layer_types"}
        return {}
    return _window(config, max(0, layers - config.count("max_window_layers", 28)), default=4096)
