"""A logsumexp is counted for every element of the output."""

from specs import AttentionTemporaryBytes, DType

from ..traffic import AttentionAlgorithm
from ..traffic import attention_temporary_bytes as right

EXERCISE = "attention_temporary_bytes"
HINT = "There is one logsumexp for each query of a head, whatever head_dim is."
FAILS = (
    "test_one_head_at_32k_tokens_is_2_1_gb_or_9_mb",
    "test_heads_and_sequences_multiply_the_bill",
    "test_the_format_is_that_of_scores_and_output_and_not_of_the_logsumexp",
    "test_any_attention_holds_what_it_writes",
)


def attention_temporary_bytes(
    algorithm: AttentionAlgorithm, sequence: int, head_dim: int, dtype: DType, heads: int = 1, batch: int = 1
) -> AttentionTemporaryBytes:
    held = right(algorithm, sequence, head_dim, dtype, heads, batch)
    return held.model_copy(update={"logsumexp": held.logsumexp * head_dim})
