"""An element of a dropout mask is taken to be as large as an activation."""

from specs import ActivationBytes

from ..activations import activation_bytes as right

EXERCISE = "activation_bytes"
HINT = "A dropout mask says kept or dropped: it takes 1 byte an element, not 2."
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
    return got.model_copy(
        update={
            "attention": got.attention * 12 // 11,
            "attention_scores": got.attention_scores * 6 // 5,
            "mlp": got.mlp * 20 // 19,
        }
    )
