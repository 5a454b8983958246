"""Counts parameters by listing every tensor of a model: an oracle for tests, apart from `solutions/`.

It walks tensor by tensor, as a state dict would list them, and not part by part as the exercise asks.
"""

from collections.abc import Iterator
from math import prod

from specs import Experts, GroupedAttention, LatentAttention, Mlp, Model

Tensor = tuple[str, tuple[int, ...]]


def parameter_count(model: Model) -> int:
    """All stored values of `model`."""
    return sum(prod(shape) for _, shape in tensors(model))


def active_parameter_count(model: Model) -> int:
    """Values that take part for one token: of a layer's routed experts only `active`, everything else."""
    inactive = 0
    if model.experts is not None:
        one_expert = sum(
            prod(shape) for name, shape in tensors(model) if name.startswith(f"{model.layers - 1}.expert0.")
        )
        expert_layers = model.layers - model.experts.dense_layers
        inactive = one_expert * (model.experts.count - model.experts.active) * expert_layers
    return parameter_count(model) - inactive


def tensors(model: Model) -> Iterator[Tensor]:
    """Every tensor of `model` as (name, shape)."""
    yield "embedding", (model.vocab, model.hidden)
    if model.learned_positions:
        yield "positions", (model.learned_positions, model.hidden)
    for layer in range(model.layers):
        for name, shape in _layer(model, layer):
            yield f"{layer}.{name}", shape
    if model.final_norm:
        yield from _norm("final_norm", model)
    if not model.tied_embeddings:
        yield "head", (model.hidden, model.vocab)
    if model.head_bias:
        yield "head_bias", (model.vocab,)


def _layer(model: Model, layer: int) -> Iterator[Tensor]:
    for i in range(model.norms_per_layer):
        yield from _norm(f"norm{i}", model)
    if isinstance(model.attention, GroupedAttention):
        yield from _grouped(model.attention, model.hidden)
    else:
        yield from _latent(model.attention, model.hidden)
    if model.experts is not None and layer >= model.experts.dense_layers:
        yield from _experts(model.experts, model.hidden)
    else:
        assert model.mlp is not None
        yield from _mlp("mlp", model.mlp, model.hidden)


def _norm(name: str, model: Model) -> Iterator[Tensor]:
    yield f"{name}.scale", (model.hidden,)
    if model.norm_bias:
        yield f"{name}.bias", (model.hidden,)


def _linear(name: str, inputs: int, outputs: int, bias: bool = False) -> Iterator[Tensor]:
    yield f"{name}.weight", (inputs, outputs)
    if bias:
        yield f"{name}.bias", (outputs,)


def _grouped(attention: GroupedAttention, d: int) -> Iterator[Tensor]:
    q_width, kv_width = attention.heads * attention.head_dim, attention.kv_heads * attention.head_dim
    yield from _linear("q", d, q_width, attention.qkv_bias)
    yield from _linear("k", d, kv_width, attention.qkv_bias)
    yield from _linear("v", d, kv_width, attention.qkv_bias)
    yield from _linear("output", q_width, d, attention.output_bias)
    if attention.qk_norm:
        yield "q_norm", (attention.head_dim,)
        yield "k_norm", (attention.head_dim,)
    if attention.sinks:
        yield "sinks", (attention.heads,)


def _latent(attention: LatentAttention, d: int) -> Iterator[Tensor]:
    q_width = attention.heads * (attention.qk_nope_head_dim + attention.qk_rope_head_dim)
    if attention.q_lora_rank is None:
        yield from _linear("q", d, q_width)
    else:
        yield from _linear("q_down", d, attention.q_lora_rank)
        yield "q_norm", (attention.q_lora_rank,)
        yield from _linear("q_up", attention.q_lora_rank, q_width)
    yield from _linear("kv_down", d, attention.kv_lora_rank + attention.qk_rope_head_dim)
    yield "kv_norm", (attention.kv_lora_rank,)
    yield from _linear(
        "kv_up", attention.kv_lora_rank, attention.heads * (attention.qk_nope_head_dim + attention.v_head_dim)
    )
    yield from _linear("output", attention.heads * attention.v_head_dim, d)


def _mlp(name: str, mlp: Mlp, d: int) -> Iterator[Tensor]:
    if mlp.gated:
        yield from _linear(f"{name}.gate", d, mlp.intermediate, mlp.bias)
    yield from _linear(f"{name}.up", d, mlp.intermediate, mlp.bias)
    yield from _linear(f"{name}.down", mlp.intermediate, d, mlp.bias)


def _experts(experts: Experts, d: int) -> Iterator[Tensor]:
    yield from _linear("router", d, experts.count, experts.router_bias)
    if experts.router_correction_bias:
        yield "router_correction", (experts.count,)
    routed = Mlp(intermediate=experts.intermediate, gated=experts.gated, bias=experts.bias)
    for i in range(experts.count):
        yield from _mlp(f"expert{i}", routed, d)
    for i in range(experts.shared):
        yield from _mlp(f"shared{i}", Mlp(intermediate=experts.shared_intermediate, gated=experts.gated), d)
