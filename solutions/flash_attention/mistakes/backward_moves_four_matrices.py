"""The naive backward pass is taken to move as many square matrices as the forward pass."""

from specs import AttentionHbmBytes, DType

from ..traffic import AttentionAlgorithm, Direction
from ..traffic import attention_hbm_bytes as right

EXERCISE = "attention_hbm_bytes"
HINT = (
    "Backward has five kernels: P is read twice, dP is written and read, dS is written once and read twice."
)
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

    if algorithm == "naive" and direction == "backward":
        return moved.model_copy(update={"scores": moved.scores * 4 / 7})
    return moved
