"""The inputs that full recomputation keeps are counted in elements."""

from specs import ActivationBytes

from ..activations import activation_bytes as right

EXERCISE = "activation_bytes"
HINT = "s·b·h is the number of elements of a layer's input. How many bytes does one take?"
FAILS = (
    "test_full_recomputation_keeps_the_input_of_each_layer",
    "test_any_shape_under_any_recomputation",
    "test_the_smallest_shapes",
)


def activation_bytes(
    layers: int, hidden: int, heads: int, sequence: int, batch: int, recomputation: str
) -> ActivationBytes:
    got = right(layers, hidden, heads, sequence, batch, recomputation)
    return got.model_copy(update={"layer_inputs": got.layer_inputs // 2})
