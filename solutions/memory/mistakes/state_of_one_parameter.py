"""The state is not multiplied by the number of parameters."""

from specs import StateBytes, TrainingMemory

from ..budget import training_memory as right

EXERCISE = "memory_budget"
HINT = "state is what one parameter costs. How many are there?"
FAILS = (
    "test_7b_costs_144_5_gb_and_no_card_of_80_gb_survives",
    "test_the_bill_follows_the_recipe",
    "test_any_bill",
)


def training_memory(parameters: int, state: StateBytes, activation_bytes: float) -> TrainingMemory:
    return right(1, state, activation_bytes)
