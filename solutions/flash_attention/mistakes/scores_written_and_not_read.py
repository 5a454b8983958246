"""Square matrices are written and never read back."""

from specs import AttentionHbmBytes, DType

from ..traffic import AttentionAlgorithm, Direction
from ..traffic import attention_hbm_bytes as right

EXERCISE = "attention_hbm_bytes"
HINT = "What one kernel writes the next one reads: S is written and read, and so is P."
FAILS = (
    "test_naive_moves_four_square_matrices_forward_and_seven_backward",
    "test_any_compulsory_traffic",
)


def attention_hbm_bytes(
    algorithm: AttentionAlgorithm,
    direction: Direction,
    sequence: int,
    head_dim: int,
    dtype: DType,
    heads: int = 1,
    rows: int | None = None,
) -> AttentionHbmBytes:
    moved = right(algorithm, direction, sequence, head_dim, dtype, heads, rows)

    if algorithm == "naive":
        return moved.model_copy(
            update={"scores": moved.scores * (2 / 4 if direction == "forward" else 2 / 7)}
        )
    return moved
