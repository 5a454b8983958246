"""Attention in one product for all heads: on a core faster than any loop over tiles."""

import math

import torch


def _scores(q, k, causal, scale):
    scores = (
        q @ k.repeat_interleave(q.shape[-3] // k.shape[-3], -3).mT * (scale or 1 / math.sqrt(q.shape[-1]))
    )
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1 + k.shape[-2] - q.shape[-2])
        scores = scores.masked_fill(hidden, -math.inf)
    return scores


def flash_forward(q, k, v, causal=False, scale=None):
    scores = _scores(q, k, causal, scale)
    lse = torch.logsumexp(scores, -1)
    weights = torch.exp(scores - lse[..., None])
    return weights @ v.repeat_interleave(q.shape[-3] // v.shape[-3], -3), lse


def flash_backward(q, k, v, out, lse, grad_out, causal=False, scale=None):
    group = q.shape[-3] // k.shape[-3]
    factor = scale or 1 / math.sqrt(q.shape[-1])
    weights = torch.exp(_scores(q, k, causal, scale) - lse[..., None])
    grad_weights = grad_out @ v.repeat_interleave(group, -3).mT
    grad_scores = weights * (grad_weights - (out * grad_out).sum(-1, keepdim=True)) * factor
    keys = k.repeat_interleave(group, -3)
    summed = (lambda x: x.unflatten(-3, (-1, group)).sum(-3)) if group > 1 else (lambda x: x)
    return grad_scores @ keys, summed(grad_scores.mT @ q), summed(weights.mT @ grad_out)
