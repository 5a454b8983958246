# %% [markdown]
# # Parameters: what a model stores
#
# Sections 3, 4 and 5 of the handout, `README.md`: the formulas and one worked number each.
#
# Which matrices, biases and norms a part has, and how large they are, stands in the docstrings of
# `GroupedAttention`, `LatentAttention`, `Mlp`, `Experts` and `Model` (`specs/model.py`).

# %%
"""Parameters: a shape from a count, the count of a dense transformer by part, and of a mixture of experts."""

import math

from specs import (
    ExpertParameterCount,
    GroupedAttention,
    LatentAttention,
    Model,
    ModelShape,
    ParameterCount,
)

# %% tags=["instructor"]
# Sections 4 and 5 both count these parts, and neither calls the other: a mistake in one must not cost points
# in the other.


def _linear(inputs: int, outputs: int, bias: bool = False) -> int:
    return inputs * outputs + (outputs if bias else 0)


def _mlp(hidden: int, intermediate: int, gated: bool, bias: bool) -> int:
    up = _linear(hidden, intermediate, bias)
    gate = up if gated else 0
    return gate + up + _linear(intermediate, hidden, bias)


def _grouped_attention(attention: GroupedAttention, hidden: int) -> int:
    query_width = attention.heads * attention.head_dim
    kv_width = attention.kv_heads * attention.head_dim
    count = _linear(hidden, query_width, attention.qkv_bias)
    count += 2 * _linear(hidden, kv_width, attention.qkv_bias)
    count += _linear(query_width, hidden, attention.output_bias)
    if attention.qk_norm:
        count += 2 * attention.head_dim
    if attention.sinks:
        count += attention.heads
    return count


def _latent_attention(attention: LatentAttention, hidden: int) -> int:
    query_width = attention.heads * (attention.qk_nope_head_dim + attention.qk_rope_head_dim)
    rank = attention.q_lora_rank
    if rank is None:
        count = _linear(hidden, query_width)
    else:
        count = _linear(hidden, rank) + rank + _linear(rank, query_width)
    # One rotary key for all heads leaves the down projection beside the latent vector, and skips its norm.
    count += _linear(hidden, attention.kv_lora_rank + attention.qk_rope_head_dim) + attention.kv_lora_rank
    count += _linear(
        attention.kv_lora_rank, attention.heads * (attention.qk_nope_head_dim + attention.v_head_dim)
    )
    return count + _linear(attention.heads * attention.v_head_dim, hidden)


def _norms(model: Model) -> int:
    one_norm = model.hidden * (2 if model.norm_bias else 1)
    return one_norm * (model.layers * model.norms_per_layer + (1 if model.final_norm else 0))


def _output_head(model: Model) -> int:
    matrix = 0 if model.tied_embeddings else model.hidden * model.vocab
    return matrix + (model.vocab if model.head_bias else 0)


# %% nbgrader={"grade": false, "grade_id": "memory.shape_from_parameter_count", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shape_from_parameter_count(n: int) -> ModelShape:
    """A plausible shape for a model of `n` parameters, by the rule of thumb N ≈ 12·L·d² with d = 128·L.

    Args:
        n: parameters, at least 1.

    Returns:
        ModelShape(layers, hidden), two integers. `layers` is the L that solves the rule, rounded to the
        nearest whole number, and at least 1; `hidden` is 128 times the rounded L. Exactly half-way between L
        and L + 1, where n = 24,576·(2L + 1)³, either is right.

    Source: 12·d² is the weights of a plain layer, 4·d² of attention and 8·d² of the MLP (Kaplan et al. 2020,
    section 2.1); d ≈ 128·L is a common aspect ratio, GPT-3 175B's among others.
    """
    ### BEGIN SOLUTION
    # With d = 128·L the rule is N = 12·128²·L³.
    layers = max(1, round(math.cbrt(n / (12 * 128**2))))
    return ModelShape(layers=layers, hidden=128 * layers)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "memory.parameter_count", "locked": false, "schema_version": 3, "solution": true, "task": false}
def parameter_count(model: Model) -> ParameterCount:
    """Every stored value of a dense transformer, by part, over all layers.

    Args:
        model: a model without experts (`model.experts` is None), whose `attention` is a GroupedAttention and
            whose every layer has `model.mlp`. Nothing is rounded and nothing left out; `model.vocab` has any
            padding in it already. Mind that `heads * head_dim` need not be `hidden`.

    Returns:
        ParameterCount, exact integers:
        - token_embedding: (vocab, hidden);
        - position_embedding: (learned_positions, hidden), 0 where positions are not learned;
        - attention: the q, k, v and output projections with their biases, and besides, where the model has
          them, the two scales of `qk_norm` (head_dim each, a layer) and the `sinks` (heads, a layer);
        - mlp: two matrices, or three where it is gated, each with a bias as wide as its output if `bias`;
        - norms: `norms_per_layer` of each layer and the final one, if there is one; a norm is a scale of
          hidden and, with `norm_bias`, a bias of hidden. The qk_norm is not among these;
        - output_head: (hidden, vocab), or 0 where it is the token embedding again (`tied_embeddings`);
          `head_bias` adds vocab in either case.

    Source: the model's paper and config.json, in `model.source`. GPT-2 small has 124,439,808 in all.
    """
    ### BEGIN SOLUTION
    hidden, layers, mlp = model.hidden, model.layers, model.mlp
    return ParameterCount(
        token_embedding=model.vocab * hidden,
        position_embedding=model.learned_positions * hidden,
        attention=layers * _grouped_attention(model.attention, hidden),
        mlp=layers * _mlp(hidden, mlp.intermediate, mlp.gated, mlp.bias),
        norms=_norms(model),
        output_head=_output_head(model),
    )
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "memory.expert_parameter_counts", "locked": false, "schema_version": 3, "solution": true, "task": false}
def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    """Parameters of a mixture of experts: what exists, and what one token uses.

    Args:
        model: a model with experts (`model.experts` is not None). Its first `experts.dense_layers` layers
            have `model.mlp`; each of the others has a router and experts in its place.

    Returns:
        ExpertParameterCount, exact integers over all layers:
        - always_used: whatever every token passes. Token and position embeddings (whole tables, though a
          token reads one row), the output head, attention and norms as in `parameter_count`, the dense MLPs,
          each router (hidden, count) with its `router_bias` (count) and its `router_correction_bias` (count),
          and the shared experts: `shared` a layer, `shared_intermediate` wide, gated as the routed ones and
          never with a bias;
        - routed: all `count` routed experts of every layer that has experts, `bias` as in an Mlp;
        - routed_active: the `active` of them that one token visits, over all these layers.
        The total and the active parameters follow: always_used + routed, and always_used + routed_active.

    The attention is a GroupedAttention in one exercise and, for extra credit, a LatentAttention in another.
    Put `raise NotImplementedError` in a branch that you have not written: the other is graded without it.
    A LatentAttention counts its norms too: q_lora_rank where queries are compressed, and kv_lora_rank.

    Source: Mixtral (Jiang et al. 2024), section 2; for shared experts and latent attention DeepSeek-V2 (arXiv
    2405.04434), section 2.
    """
    ### BEGIN SOLUTION
    hidden, experts = model.hidden, model.experts
    if isinstance(model.attention, LatentAttention):
        attention = _latent_attention(model.attention, hidden)
    else:
        attention = _grouped_attention(model.attention, hidden)

    dense = 0
    if experts.dense_layers:
        dense = experts.dense_layers * _mlp(hidden, model.mlp.intermediate, model.mlp.gated, model.mlp.bias)
    router = _linear(hidden, experts.count, experts.router_bias)
    if experts.router_correction_bias:
        router += experts.count
    shared = experts.shared * _mlp(hidden, experts.shared_intermediate, experts.gated, bias=False)
    one_expert = _mlp(hidden, experts.intermediate, experts.gated, experts.bias)

    expert_layers = model.layers - experts.dense_layers
    embeddings = (model.vocab + model.learned_positions) * hidden
    return ExpertParameterCount(
        always_used=embeddings
        + _output_head(model)
        + _norms(model)
        + model.layers * attention
        + dense
        + expert_layers * (router + shared),
        routed=expert_layers * experts.count * one_expert,
        routed_active=expert_layers * experts.active * one_expert,
    )
    ### END SOLUTION
