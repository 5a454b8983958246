"""Data and its schema: models, GPUs, recipes, exercises. Imports neither torch nor numpy."""

from specs.attention import ATTENTION, AttentionHbmBytes, AttentionTemporaryBytes
from specs.costs import (
    COSTS,
    Cost,
    ElementFlops,
    FusedCost,
    LaunchTimes,
    LeverEffect,
    Op,
    OpCost,
    StepTime,
    element_flops,
)
from specs.dtypes import DTYPE_BYTES, DType
from specs.gpu import Gpu, gpu, gpus, load_gpus
from specs.hf_config import from_hf_config
from specs.model import (
    Experts,
    GroupedAttention,
    LatentAttention,
    Mlp,
    Model,
    load_model,
    model,
    model_names,
    models,
)
from specs.recipe import Adapters, Recipe, recipe, recipes
from specs.schema import Spec, SpecError
from specs.terms import (
    TERMS,
    ActivationBytes,
    AdapterStateBytes,
    ExpertParameterCount,
    InferenceMemory,
    KvCacheBytes,
    ModelShape,
    ParameterCount,
    StateBytes,
    TrainingMemory,
    ZeroStateBytes,
)

_ON_THE_WIRE: tuple[type[Spec], ...] = (
    Model,
    GroupedAttention,
    LatentAttention,
    Mlp,
    Experts,
    Gpu,
    Recipe,
    Adapters,
    *TERMS,
    *COSTS,
    *ATTENTION,
)
WIRE_TYPES: dict[str, type[Spec]] = {kind.__name__: kind for kind in _ON_THE_WIRE}
"""The types that may cross between the judge and a submission."""

__all__ = [
    "DTYPE_BYTES",
    "WIRE_TYPES",
    "ActivationBytes",
    "AdapterStateBytes",
    "Adapters",
    "AttentionHbmBytes",
    "AttentionTemporaryBytes",
    "Cost",
    "DType",
    "ElementFlops",
    "ExpertParameterCount",
    "Experts",
    "FusedCost",
    "Gpu",
    "GroupedAttention",
    "InferenceMemory",
    "KvCacheBytes",
    "LatentAttention",
    "LaunchTimes",
    "LeverEffect",
    "Mlp",
    "Model",
    "ModelShape",
    "Op",
    "OpCost",
    "ParameterCount",
    "Recipe",
    "Spec",
    "SpecError",
    "StateBytes",
    "StepTime",
    "TrainingMemory",
    "ZeroStateBytes",
    "element_flops",
    "from_hf_config",
    "gpu",
    "gpus",
    "load_gpus",
    "load_model",
    "model",
    "model_names",
    "models",
    "recipe",
    "recipes",
]
