"""Full recomputation is taken to keep nothing at all."""

from specs import ActivationBytes

from ..activations import activation_bytes as right

EXERCISE = "activation_bytes"
HINT = "A layer that is computed again has to start from something: its input is kept, in layer_inputs."
FAILS = (
    "test_full_recomputation_keeps_the_input_of_each_layer",
    "test_any_shape_under_any_recomputation",
    "test_the_smallest_shapes",
)


def activation_bytes(
    layers: int, hidden: int, heads: int, sequence: int, batch: int, recomputation: str
) -> ActivationBytes:
    got = right(layers, hidden, heads, sequence, batch, recomputation)
    return got.model_copy(update={"layer_inputs": 0})
