"""What the sharding exercises about numbers take and return: a GPT, a link, and what one GPU of a cut holds and sends.

A *cut* divides the training of one network among a group of GPUs. Of each tensor it leaves every GPU a whole
copy (replicated) or a part (sharded), and it costs collectives. Training state is that of the recipe
`adamw-bf16`: see `WEIGHT_BYTES`, `GRADIENT_BYTES`, `OPTIMIZER_BYTES`.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from specs.answer import Answer
from specs.model import Count
from specs.schema import Spec
from specs.terms import Number, Terms

WEIGHT_BYTES = 2
"""Bytes of one weight, bf16."""
GRADIENT_BYTES = 2
"""Bytes of one gradient, bf16."""
OPTIMIZER_BYTES = 12
"""Bytes of optimizer state of one parameter: fp32 master copy 4, two fp32 moments 8."""
ACTIVATION_BYTES = 2
"""Bytes of one activation, or of its gradient, where it is sent to another GPU: bf16."""

CollectiveKind = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send"]
Algorithm = Literal["ring", "tree"]

TensorName = Literal[
    "weights",
    "gradients",
    "optimizer",
    "activations",
    "matrices",
    "column_biases",
    "row_biases",
    "norms",
    "token_embedding",
    "position_embedding",
    "residual_activations",
    "block_activations",
    "layers",
    "experts",
    "everything_else",
]
"""What a cut may replicate or shard; each exercise says which of the names it is about."""

Carried = Literal[
    "weights",
    "gradients",
    "activations",
    "activation_gradients",
    "keys_values",
    "keys_values_gradients",
]
"""What a collective carries. `gradients` are those of weights."""


class Link(Spec):
    """A GPU's connection by the alpha-beta model: a message takes latency_s, and then bytes / bandwidth."""

    latency_s: float = Field(ge=0, description="alpha: seconds that a message takes however short it is")
    bandwidth_bytes_per_s: float = Field(
        gt=0, description="of one direction; a GPU sends and receives at this rate at the same time"
    )


class Gpt(Spec):
    """A GPT: learned positions, two LayerNorms a layer, MLP of 4·hidden, a bias on every linear, a tied head.

    The parameters are counted by what becomes of them when the layer is cut. There are
    12·L·h²·(1 + 13/(12·h) + (V + s)/(12·L·h)) of them: Narayanan et al. 2021 (arXiv 2104.04473), equation 2,
    which leaves out the final norm.
    """

    layers: Count
    hidden: Count
    heads: Count
    vocab: Count
    sequence: Count = Field(description="tokens in a sequence; there are as many learned positions")

    @model_validator(mode="after")
    def _heads_divide_hidden(self) -> Self:
        if self.hidden % self.heads:
            raise ValueError(f"heads = {self.heads} must divide hidden = {self.hidden}")
        return self

    @property
    def matrices(self) -> int:
        """The six matrices of one layer, 12·h²: q, k, v and output h² each, MLP up and down 4·h² each."""
        return 12 * self.hidden**2

    @property
    def column_biases(self) -> int:
        """Of one layer, 7·h: biases of q, k and v, and of MLP up. Their matrices are cut by columns (outputs)."""
        return 7 * self.hidden

    @property
    def row_biases(self) -> int:
        """Of one layer, 2·h: biases of attention's output and of MLP down. Their matrices are cut by rows (inputs)."""
        return 2 * self.hidden

    @property
    def norms(self) -> int:
        """Of one layer, 4·h: scale and bias of two LayerNorms."""
        return 4 * self.hidden

    @property
    def mlp(self) -> int:
        """Of one layer, 8·h² + 5·h: the two matrices of the MLP and their biases, which are counted above too."""
        return 8 * self.hidden**2 + 5 * self.hidden

    @property
    def layer(self) -> int:
        """All parameters of one layer: matrices, column_biases, row_biases and norms."""
        return self.matrices + self.column_biases + self.row_biases + self.norms

    @property
    def token_embedding(self) -> int:
        """V·h, used by the head again."""
        return self.vocab * self.hidden

    @property
    def position_embedding(self) -> int:
        """s·h."""
        return self.sequence * self.hidden

    @property
    def parameters(self) -> int:
        """All parameters of the model."""
        return self.layers * self.layer + self.token_embedding + self.position_embedding


class HeldBytes(Terms):
    """What one GPU holds, in bytes."""

    weights: Number
    gradients: Number
    optimizer: Number
    """Master copy and moments."""
    activations: Number
    """Kept from the forward to the backward pass, where most are held."""


class CollectiveUse(Answer):
    """How often one kind of collective carries one kind of tensor in a step, and what one GPU sends for it."""

    kind: CollectiveKind
    tensor: Carried
    count: int = Field(ge=0, strict=True)
    """How often the step runs it, over all layers and micro-batches."""
    sent_bytes: Number
    """Bytes that one GPU sends in all `count` of them together."""


def _names(value: Any) -> Any:
    """Names in any container, each once and in order; a lone string would else be taken letter by letter."""
    if isinstance(value, str):
        raise ValueError(f"a tuple or set of names is needed, not a single str: write ({value!r},)")
    if isinstance(value, list | tuple | set | frozenset) and all(isinstance(each, str) for each in value):
        return tuple(sorted(set(value)))
    return value


def _summed(value: Any) -> Any:
    """Uses of one kind for one tensor added up, in order; those that never happen left out."""
    if isinstance(value, CollectiveUse):
        raise ValueError("a tuple of CollectiveUse is needed, not a single one: write (CollectiveUse(...),)")
    if not isinstance(value, list | tuple) or not all(isinstance(each, CollectiveUse) for each in value):
        return value
    sums: dict[tuple[str, str], tuple[int, int | float]] = {}
    for use in value:
        if use.count:
            count, sent_bytes = sums.get((use.kind, use.tensor), (0, 0))
            sums[use.kind, use.tensor] = (count + use.count, sent_bytes + use.sent_bytes)
    return tuple(
        CollectiveUse.model_validate(
            {"kind": kind, "tensor": tensor, "count": count, "sent_bytes": sent_bytes}
        )
        for (kind, tensor), (count, sent_bytes) in sorted(sums.items())
    )


class GpuShare(Answer):
    """What one GPU of a group holds and sends in one training step."""

    held: HeldBytes
    replicated: Annotated[tuple[TensorName, ...], BeforeValidator(_names)]
    """Names of what every GPU of the group has a whole copy of, in any order."""
    sharded: Annotated[tuple[TensorName, ...], BeforeValidator(_names)]
    """Names of what each GPU of the group has its own part of, in any order."""
    collectives: Annotated[tuple[CollectiveUse, ...], BeforeValidator(_summed)]
    """In any order. Uses of one kind for one tensor are added up, and a use with count 0 is left out."""

    @property
    def sent_bytes(self) -> int | float:
        """Bytes that one GPU sends in a step, in all collectives together."""
        return sum(use.sent_bytes for use in self.collectives)


SHARDING: tuple[type[Spec], ...] = (Link, Gpt, HeldBytes, CollectiveUse, GpuShare)
