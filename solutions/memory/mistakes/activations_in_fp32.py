"""Every term is doubled, the 1-byte masks too, as if activations were kept in fp32."""

from specs import ActivationBytes

from ..activations import activation_bytes as right

EXERCISE = "activation_bytes"
HINT = "The 11, 5, 19, 4 and 2 are bytes already, of 16-bit activations: multiply them by nothing more."
FAILS = (
    "test_a_model_small_enough_for_pencil_and_paper",
    "test_the_chapters_7b_keeps_32_5_gb",
    "test_twice_the_sequence_is_four_times_the_scores",
    "test_selective_recomputation_drops_the_scores_alone",
    "test_full_recomputation_keeps_the_input_of_each_layer",
    "test_any_shape_under_any_recomputation",
    "test_the_smallest_shapes",
)


def activation_bytes(
    layers: int, hidden: int, heads: int, sequence: int, batch: int, recomputation: str
) -> ActivationBytes:
    got = right(layers, hidden, heads, sequence, batch, recomputation)
    return ActivationBytes(
        attention=2 * got.attention,
        attention_scores=2 * got.attention_scores,
        mlp=2 * got.mlp,
        norms=2 * got.norms,
        layer_inputs=2 * got.layer_inputs,
    )
