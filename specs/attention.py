"""What the flash_attention exercises return: attention's bytes by what they are of, temporaries and traffic."""

from specs.schema import Spec
from specs.terms import Number, Terms


class AttentionTemporaryBytes(Terms):
    """What a forward pass of attention leaves in HBM, in bytes: what decides whether it fits."""

    scores: Number
    """The matrix of all scores, which its softmax replaces in place."""
    output: Number
    """O."""
    logsumexp: Number
    """One fp32 number a query, kept for the backward pass."""


class AttentionHbmBytes(Terms):
    """Bytes that attention moves between HBM and the chip, read and written together, by what they are of."""

    queries: Number
    """Q."""
    keys_values: Number
    """K and V."""
    scores: Number
    """The square matrices: S and P, in backward P, dP and dS."""
    output: Number
    """O, in backward O and dO."""
    statistics: Number
    """One fp32 number a query each: the logsumexp, in backward also delta."""
    gradients: Number
    """dQ, dK and dV."""


ATTENTION: tuple[type[Spec], ...] = (AttentionTemporaryBytes, AttentionHbmBytes)
