"""Recipes: how the state of a training run is kept, number format by number format.

"16 bytes per parameter" is true of one recipe only. A recipe has to be named before a number can be right.
"""

from functools import cache
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from specs.dtypes import DType
from specs.schema import Spec, SpecError, read_yaml, validate


class Adapters(Spec):
    """The frozen base model under low-rank adapters; the recipe's other fields then describe the adapters.

    Source: LoRA (Hu et al. 2021), QLoRA (Dettmers et al. 2023, section 3).
    """

    frozen_weights: DType
    """Format in which the frozen base weights are stored."""

    quantization_block: int | None = Field(default=None, gt=0)
    """Parameters that share one quantisation constant; None when the base is not quantised."""

    double_quantization_block: int | None = Field(default=None, gt=0)
    """Constants that share one second-level fp32 constant, the first level then taking 8 bits each;
    None when each constant is kept in fp32."""

    @model_validator(mode="after")
    def _second_level_needs_a_first(self) -> Self:
        if self.double_quantization_block is not None and self.quantization_block is None:
            raise ValueError("double_quantization_block needs a quantization_block")
        return self


class Recipe(Spec):
    """Which copies of each parameter a training run keeps, and in which format."""

    name: str
    description: str = ""
    source: str = ""

    weights: DType
    """Format of the weights that forward and backward read."""

    gradients: DType | None
    """Format of the gradients that backward writes; None when they are not kept."""

    gradient_accumulation: DType | None = None
    """Format of a second gradient buffer kept beside the first, summed over micro-batches; None when absent."""

    master: DType | None
    """Format of the master copy that the optimizer updates; None when it updates the weights themselves."""

    moments: tuple[DType, ...]
    """One format for each optimizer statistic: AdamW keeps two, SGD with momentum one."""

    optimizer: str = "adamw"
    adapters: Adapters | None = None


RECIPES_FILE = Path(__file__).parent / "recipes.yaml"


@cache
def recipes() -> dict[str, Recipe]:
    """Every shipped recipe by name, in the order of the file."""
    entries = validate(list[Recipe], read_yaml(RECIPES_FILE), RECIPES_FILE)
    return {entry.name: entry for entry in entries}


def recipe(name: str) -> Recipe:
    """The shipped recipe called `name`.

    Raises:
        SpecError: no such recipe; the message lists those that exist.
    """
    known = recipes()
    if name not in known:
        raise SpecError(f"recipe {name!r}: no such recipe, choose one of {', '.join(known)}")
    return known[name]
