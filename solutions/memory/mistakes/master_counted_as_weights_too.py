"""The master copy is counted in weights and in master."""

from specs import StateBytes, TrainingMemory

from ..budget import training_memory as right

EXERCISE = "memory_budget"
HINT = "Your weights contain the master copy, which then is counted again in master."
FAILS = (
    "test_7b_costs_144_5_gb_and_no_card_of_80_gb_survives",
    "test_the_bill_follows_the_recipe",
    "test_any_bill",
)


def training_memory(parameters: int, state: StateBytes, activation_bytes: float) -> TrainingMemory:
    terms = right(parameters, state, activation_bytes)
    return terms.model_copy(update={"weights": terms.weights + terms.master})
