"""Activations are multiplied by the bytes of an element once more."""

from specs import StateBytes, TrainingMemory

from ..budget import training_memory as right

EXERCISE = "memory_budget"
HINT = "activation_bytes are bytes already: nothing is left to multiply."
FAILS = (
    "test_7b_costs_144_5_gb_and_no_card_of_80_gb_survives",
    "test_the_bill_follows_the_recipe",
    "test_any_bill",
)


def training_memory(parameters: int, state: StateBytes, activation_bytes: float) -> TrainingMemory:
    return right(parameters, state, activation_bytes).model_copy(update={"activations": 2 * activation_bytes})
