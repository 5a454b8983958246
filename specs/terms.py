"""What the exercises return: named terms, so that a wrong answer can name the term that is wrong.

A number may be an int, a float or a numpy scalar. `total` is always derived from the terms.
"""

from typing import Annotated

from pydantic import BeforeValidator

from specs.answer import Answer
from specs.schema import Spec


def _plain_number(value: object) -> int | float:
    """Accept what a person would call a number, and refuse what only looks like one (bool, str)."""
    number = getattr(value, "item", lambda: value)() if type(value).__module__ == "numpy" else value
    if isinstance(number, float):
        return float(number)
    if isinstance(number, int) and not isinstance(number, bool):
        return int(number)
    raise ValueError(f"a number is needed here, not {type(value).__name__}")


Number = Annotated[int | float, BeforeValidator(_plain_number)]


class Terms(Answer):
    """A sum by its terms."""

    @property
    def total(self) -> int | float:
        """The sum of all terms."""
        terms: list[int | float] = [getattr(self, name) for name in type(self).model_fields]
        return sum(terms)


class StateBytes(Terms):
    """Training state: bytes of each kind, of one parameter or of a whole model."""

    weights: Number
    gradients: Number
    master: Number
    moments: Number


class ZeroStateBytes(Terms):
    """Training state that one GPU of a ZeRO group holds, in bytes."""

    weights: Number
    gradients: Number
    master: Number
    moments: Number
    gathered: Number
    """The layer that stage 3 has gathered at the moment, with its gradient."""


class AdapterStateBytes(Terms):
    """Training state under low-rank adapters, in bytes."""

    frozen_weights: Number
    quantization_constants: Number
    adapter_weights: Number
    gradients: Number
    master: Number
    moments: Number


class ModelShape(Answer):
    """The two numbers that the rule of thumb N ≈ 12·L·d² ties together."""

    layers: Number
    hidden: Number


class ParameterCount(Terms):
    """Parameters of a dense transformer by part."""

    token_embedding: Number
    position_embedding: Number
    attention: Number
    mlp: Number
    norms: Number
    output_head: Number
    """0 when the head reuses the token embedding."""


class ExpertParameterCount(Answer):
    """Parameters of a mixture of experts: what exists, and what one token uses."""

    always_used: Number
    """Embeddings, head, attention, norms, dense MLPs, routers and shared experts."""
    routed: Number
    """All routed experts of all layers."""
    routed_active: Number
    """The routed experts that one token visits, over all layers."""

    @property
    def total(self) -> int | float:
        """All parameters."""
        return self.always_used + self.routed

    @property
    def active(self) -> int | float:
        """Parameters that one token uses."""
        return self.always_used + self.routed_active


class ActivationBytes(Terms):
    """Activations kept for the backward pass, in bytes, over all layers."""

    attention: Number
    """QKV input, Q, K, V, the projection's input and the dropout mask: what is linear in sequence."""
    attention_scores: Number
    """Softmax output, dropout mask and dropout output: what is quadratic in sequence."""
    mlp: Number
    norms: Number
    layer_inputs: Number
    """Checkpoints from which layers are recomputed."""


class KvCacheBytes(Terms):
    """Key-value cache of a batch of sequences, in bytes, over all layers."""

    keys: Number
    values: Number
    latent: Number
    """The compressed vector of latent attention, which stands for keys and values."""
    rotary_keys: Number
    """The shared rotary key of latent attention."""


class TrainingMemory(Terms):
    """The bill of a training run on one GPU, in bytes."""

    weights: Number
    gradients: Number
    master: Number
    moments: Number
    activations: Number


class InferenceMemory(Terms):
    """The bill of serving a model on one GPU, in bytes."""

    weights: Number
    kv_cache: Number


TERMS: tuple[type[Spec], ...] = (
    StateBytes,
    ZeroStateBytes,
    AdapterStateBytes,
    ModelShape,
    ParameterCount,
    ExpertParameterCount,
    ActivationBytes,
    KvCacheBytes,
    TrainingMemory,
    InferenceMemory,
)
