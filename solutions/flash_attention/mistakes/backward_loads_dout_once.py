"""dO is counted once in the backward pass with tiles."""

from specs import AttentionHbmBytes, DType

from ..traffic import AttentionAlgorithm, Direction
from ..traffic import attention_hbm_bytes as right

EXERCISE = "attention_hbm_bytes"
HINT = (
    "In backward three kernels load dO: delta's, the queries' and the keys', and the last one for every tile."
)
FAILS = (
    "test_backward_in_tiles_loads_in_both_directions",
    "test_any_tiles",
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

    if algorithm == "flash" and direction == "backward" and rows is not None:
        return moved.model_copy(update={"output": 2 * moved.gradients / 3})
    return moved
