"""The architecture of a transformer: every width and switch that decides how many values a model stores.

A model is read from one YAML file, `specs/models/<name>.yaml`, by `model(name)`; any other one is built with
`Model(...)`. Nothing here counts parameters: that is an exercise.

Shapes are given as (in, out). `d` is `hidden`, `L` is `layers`.
"""

import difflib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, model_validator

from specs.schema import Spec, SpecError, read_yaml, validate

MODELS_FOLDER = Path(__file__).parent / "models"

Count = Annotated[int, Field(gt=0, strict=True)]
CountOrZero = Annotated[int, Field(ge=0, strict=True)]


class GroupedAttention(Spec):
    """Multi-head attention whose query heads share key and value heads.

    `kv_heads == heads` is multi-head (MHA), `kv_heads == 1` multi-query (MQA), between them grouped-query
    (GQA).
    Projections of a layer: q (d, heads·head_dim), k and v (d, kv_heads·head_dim) each, and output
    (heads·head_dim, d).
    """

    kind: Literal["grouped"] = "grouped"
    heads: Count = Field(description="query heads")
    kv_heads: Count = Field(description="key heads, and as many value heads; divides `heads`")
    head_dim: Count = Field(description="width of one head; heads·head_dim need not be `hidden` (Gemma)")
    qkv_bias: StrictBool = Field(
        default=False, description="q, k and v each have a bias as wide as their output"
    )
    output_bias: StrictBool = Field(default=False, description="the output projection has a bias of d")
    qk_norm: StrictBool = Field(
        default=False,
        description="a norm on q and one on k, each a scale of head_dim shared by the heads (Qwen3)",
    )
    sinks: StrictBool = Field(
        default=False, description="one learned scalar a query head and layer (gpt-oss)"
    )
    window: Count | None = Field(default=None, description="sliding window, tokens; null: attends to all")
    windowed_layers: CountOrZero | None = Field(
        default=None, description="how many layers use `window`; null: every layer, if there is a window"
    )

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        if self.heads % self.kv_heads:
            raise ValueError(f"kv_heads = {self.kv_heads} must divide heads = {self.heads}")
        if self.windowed_layers is not None and self.window is None:
            raise ValueError(
                f"windowed_layers = {self.windowed_layers} needs a window (tokens), and none is given"
            )
        return self


class LatentAttention(Spec):
    """Multi-head latent attention (MLA), DeepSeek-V2 (arXiv 2405.04434), section 2.1.

    Projections of a layer, none with a bias; q has heads·(qk_nope_head_dim + qk_rope_head_dim) outputs:
    - q in one matrix (d, q outputs) where `q_lora_rank` is null; else (d, q_lora_rank), a norm with a scale
      of q_lora_rank, then (q_lora_rank, q outputs);
    - keys and values down (d, kv_lora_rank + qk_rope_head_dim): the compressed part and one rope key shared
      by all heads; a norm with a scale of kv_lora_rank on the compressed part;
    - keys and values up (kv_lora_rank, heads·(qk_nope_head_dim + v_head_dim));
    - output (heads·v_head_dim, d).
    """

    kind: Literal["latent"] = "latent"
    heads: Count
    q_lora_rank: Count | None = Field(
        default=None, description="rank of the compressed q; null: not compressed"
    )
    kv_lora_rank: Count = Field(description="rank of the compressed keys and values")
    qk_nope_head_dim: Count = Field(description="width of a head's q and k without rotary positions")
    qk_rope_head_dim: Count = Field(
        description="width of a head's q, and of the one shared k, with rotary positions"
    )
    v_head_dim: Count = Field(description="width of a head's values")


class Mlp(Spec):
    """Feed-forward block: up (d, intermediate) and down (intermediate, d); a gated one has a gate like up."""

    intermediate: Count
    gated: StrictBool = Field(description="three matrices (SwiGLU, GeGLU) and not two (GELU)")
    bias: StrictBool = Field(default=False, description="every matrix has a bias as wide as its output")


class Experts(Spec):
    """Mixture of experts: a router (d, count) sends each token to `active` of `count` feed-forward blocks.

    It takes the place of the feed-forward block in all layers but the first `dense_layers`, which use
    `Model.mlp`.
    """

    count: Count = Field(description="routed experts in a layer")
    active: Count = Field(description="routed experts that one token visits (top-k)")
    intermediate: Count = Field(description="intermediate width of one routed expert")
    gated: StrictBool = Field(default=True, description="three matrices an expert and not two")
    bias: StrictBool = Field(
        default=False, description="every matrix of every routed expert has a bias (gpt-oss)"
    )
    shared: CountOrZero = Field(default=0, description="experts that every token visits besides (DeepSeek)")
    shared_intermediate: CountOrZero = Field(default=0, description="intermediate width of one shared expert")
    router_bias: StrictBool = Field(default=False, description="the router has a bias of `count` (gpt-oss)")
    router_correction_bias: StrictBool = Field(
        default=False, description="one load-balancing value an expert, used only to choose (DeepSeek-V3)"
    )
    dense_layers: CountOrZero = Field(
        default=0, description="first layers that use `Model.mlp` and no experts"
    )

    @model_validator(mode="after")
    def _experts_fit(self) -> Self:
        if self.active > self.count:
            raise ValueError(f"active = {self.active} cannot exceed count = {self.count}")
        if (self.shared > 0) != (self.shared_intermediate > 0):
            raise ValueError(
                f"shared = {self.shared} and shared_intermediate = {self.shared_intermediate}: "
                "give both, or neither where there are no shared experts"
            )
        return self


Attention = Annotated[GroupedAttention | LatentAttention, Field(discriminator="kind")]


class Model(Spec):
    """A decoder-only transformer: embedding, `layers` × (attention, feed-forward, norms), final norm, head.

    A norm has a scale of d and, with `norm_bias`, a bias of d. The head (d, vocab) is the embedding again
    where `tied_embeddings`. Rotary and ALiBi positions store nothing.
    """

    name: str = Field(min_length=1)
    hidden: Count = Field(description="d, the width of the residual stream")
    layers: Count = Field(description="L")
    vocab: Count = Field(description="rows of the embedding as stored, padding included")
    tied_embeddings: StrictBool = Field(description="the head is the embedding: stored once")
    learned_positions: CountOrZero = Field(
        default=0, description="rows of a learned position embedding, d wide; 0: rotary, ALiBi or none"
    )
    norm: Literal["layernorm", "rmsnorm"]
    norm_bias: StrictBool = Field(default=False, description="every norm has a bias beside its scale")
    norms_per_layer: CountOrZero = Field(
        default=2,
        description="norms over d in a layer: 2 as usual, 4 in Gemma 2, 1 where attention and MLP share it",
    )
    final_norm: StrictBool = Field(default=True, description="a norm after the last layer")
    head_bias: StrictBool = Field(default=False, description="the head has a bias of vocab")
    attention: Attention
    mlp: Mlp | None = Field(default=None, description="the feed-forward block of the layers without experts")
    experts: Experts | None = None
    source: str = Field(default="", description="where the architecture is published")

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if self.norm == "rmsnorm" and self.norm_bias:
            raise ValueError(
                "norm_bias = true: an rmsnorm has no bias; say norm: layernorm, or norm_bias: false"
            )
        if self.experts is None:
            if self.mlp is None:
                raise ValueError("neither mlp nor experts is given: a layer needs a feed-forward block")
        elif self.experts.dense_layers >= self.layers:
            raise ValueError(
                f"experts.dense_layers = {self.experts.dense_layers} leaves no layer with experts: "
                f"layers = {self.layers}"
            )
        elif self.experts.dense_layers and self.mlp is None:
            raise ValueError(
                f"experts.dense_layers = {self.experts.dense_layers} needs mlp, the block of those layers"
            )
        elif not self.experts.dense_layers and self.mlp is not None:
            raise ValueError("mlp is given and no layer uses it: set experts.dense_layers, or leave out mlp")
        if self.windowed_layers > self.layers:
            raise ValueError(
                f"attention.windowed_layers = {self.windowed_layers} exceeds layers = {self.layers}"
            )
        return self

    @property
    def is_moe(self) -> bool:
        """Whether some layers have experts."""
        return self.experts is not None

    @property
    def windowed_layers(self) -> int:
        """How many layers see `attention.window` tokens at most; 0 for a model without a sliding window."""
        if isinstance(self.attention, LatentAttention) or self.attention.window is None:
            return 0
        return self.layers if self.attention.windowed_layers is None else self.attention.windowed_layers


def load_model(path: Path) -> Model:
    """Return the model of one YAML file.

    Raises:
        SpecError: the file cannot be read, a field is wrong, or `name` is not the file's own name.
    """
    loaded: Model = validate(Model, read_yaml(path), path)
    if loaded.name != path.stem:
        raise SpecError(f"{path}: name is {loaded.name!r}, expected {path.stem!r} as the file is called")
    return loaded


def model_names() -> tuple[str, ...]:
    """Names of the shipped models, in alphabetical order; no file is parsed."""
    return tuple(sorted(path.stem for path in MODELS_FOLDER.glob("*.yaml")))


@cache
def model(name: str) -> Model:
    """Return a shipped model; only its own file is read.

    Raises:
        SpecError: there is no such model; the message lists the names that come close.
    """
    names = model_names()
    if name not in names:
        raise SpecError(unknown_name("model", name, names))
    return load_model(MODELS_FOLDER / f"{name}.yaml")


def models() -> tuple[Model, ...]:
    """All shipped models, by name."""
    return tuple(model(name) for name in model_names())


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """One line for a name that is not known, with the nearest: `no model 'gpt-2': did you mean gpt2?`."""
    known = tuple(known)
    by_lower_case = {each.lower(): each for each in known}
    close = difflib.get_close_matches(str(name).lower(), list(by_lower_case), n=4, cutoff=0.5)
    if close:
        return f"no {kind} {name!r}: did you mean {', '.join(by_lower_case[each] for each in close)}?"
    return f"no {kind} {name!r}: known are {', '.join(known)}"
