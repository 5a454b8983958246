"""The scores of one head are counted for all."""

from specs import AttentionTemporaryBytes, DType

from ..traffic import AttentionAlgorithm
from ..traffic import attention_temporary_bytes as right

EXERCISE = "attention_temporary_bytes"
HINT = "Every head of every sequence has a score matrix of its own."
FAILS = (
    "test_heads_and_sequences_multiply_the_bill",
    "test_any_attention_holds_what_it_writes",
)


def attention_temporary_bytes(
    algorithm: AttentionAlgorithm, sequence: int, head_dim: int, dtype: DType, heads: int = 1, batch: int = 1
) -> AttentionTemporaryBytes:
    held = right(algorithm, sequence, head_dim, dtype, heads, batch)
    return held.model_copy(update={"scores": held.scores / heads / batch})
