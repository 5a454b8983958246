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


# %%
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
    raise NotImplementedError("write me")


# %%
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
    raise NotImplementedError("write me")


# %%
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
    raise NotImplementedError("write me")
