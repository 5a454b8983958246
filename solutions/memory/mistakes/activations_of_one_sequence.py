"""The batch is forgotten."""

from specs import ActivationBytes

from ..activations import activation_bytes as right

EXERCISE = "activation_bytes"
HINT = "Every sequence of the batch keeps activations of its own: b stands in each term."
FAILS = (
    "test_a_model_small_enough_for_pencil_and_paper",
    "test_the_chapters_7b_keeps_32_5_gb",
    "test_twice_the_sequence_is_four_times_the_scores",
    "test_any_shape_under_any_recomputation",
    "test_the_smallest_shapes",
)


def activation_bytes(
    layers: int, hidden: int, heads: int, sequence: int, batch: int, recomputation: str
) -> ActivationBytes:
    return right(layers, hidden, heads, sequence, 1, recomputation)
