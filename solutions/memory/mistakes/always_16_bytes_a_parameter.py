"""Every recipe is billed like AdamW in bf16."""

from specs import StateBytes, TrainingMemory

from ..budget import training_memory as right

EXERCISE = "memory_budget"
HINT = "You bill 2, 2, 4 and 8 bytes whatever the recipe: the state says what it costs."
FAILS = ("test_the_bill_follows_the_recipe", "test_any_bill")


def training_memory(parameters: int, state: StateBytes, activation_bytes: float) -> TrainingMemory:
    adamw = StateBytes(weights=2, gradients=2, master=4, moments=8)
    return right(parameters, adamw, activation_bytes)
