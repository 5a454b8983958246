"""Computes no attention: zeros, mean of V, unwritten or old memory, NaN, its own inputs, zeroed inputs.

Seen: answers that a tolerance of 1e-2 on N(0, 1) inputs accepts; `torch.empty` that holds what was freed before it;
inputs zeroed in place, so that a reference computed from them afterwards is zero too.
Stopped by: inputs whose attention is far from their mean, tolerances from a trusted error, NaN that equals nothing,
and an oracle in another process, whose inputs no submission can write to.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.flash import FORWARD, wrapped

ATTACK = "no_attention"

TOP = """
calls = []
kept = []


def zeros(q, k, v):
    return torch.zeros_like(q), q.new_zeros(q.shape[:-1])


def mean_v(q, k, v):
    # The right lse of scores that are all alike.
    return v.mean(-2, keepdim=True).expand(q.shape).contiguous(), q.new_full(q.shape[:-1], math.log(k.shape[-2]))


def unwritten(q, k, v):
    return torch.empty_like(q), q.new_empty(q.shape[:-1])


def nan(q, k, v):
    return torch.full_like(q, math.nan), q.new_full(q.shape[:-1], math.nan)


def zeroed_inputs(q, k, v):
    for each in (q, k, v):
        each.zero_()
    return torch.zeros_like(q), q.new_zeros(q.shape[:-1])


def inputs(q, k, v):
    return v, q[..., 0]


def old_memory(q, k, v):
    kept.extend((torch.empty_like(q), q.new_empty(q.shape[:-1])))
    return tuple(kept[-2:])


WAYS = (zeros, mean_v, unwritten, nan, zeroed_inputs, inputs, old_memory)
"""
# Each call another way: each check fails at its first one.
IN_TURN = """
calls.append(len(calls))
kernel(q, k, v, causal, scale)
return WAYS[calls[-1] % len(WAYS)](q, k, v)
"""

VARIANTS = (
    Variant("in_turn", wrapped(IN_TURN, TOP), Expected(says="out is off by"), FORWARD, 15, slow=True),
    *(
        Variant(name, wrapped(f"return {name}(q, k, v)", TOP), Expected(), FORWARD, 10, slow=True)
        for name in ("mean_v", "unwritten", "zeroed_inputs")
    ),
)
