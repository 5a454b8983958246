"""One of a layer's two norms is counted."""

from specs import ActivationBytes

from ..activations import activation_bytes as right

EXERCISE = "activation_bytes"
HINT = "A layer has two norms, one before attention and one before the MLP, and each keeps its input."
FAILS = (
    "test_a_model_small_enough_for_pencil_and_paper",
    "test_the_chapters_7b_keeps_32_5_gb",
    "test_twice_the_sequence_is_four_times_the_scores",
    "test_selective_recomputation_drops_the_scores_alone",
    "test_any_shape_under_any_recomputation",
    "test_the_smallest_shapes",
)


def activation_bytes(
    layers: int, hidden: int, heads: int, sequence: int, batch: int, recomputation: str
) -> ActivationBytes:
    got = right(layers, hidden, heads, sequence, batch, recomputation)
    return got.model_copy(update={"norms": got.norms // 2})
