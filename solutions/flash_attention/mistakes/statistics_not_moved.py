"""The logsumexp and delta are left out."""

from specs import AttentionHbmBytes, DType

from ..traffic import AttentionAlgorithm, Direction
from ..traffic import attention_hbm_bytes as right

EXERCISE = "attention_hbm_bytes"
HINT = (
    "The logsumexp is an output of forward and an input of backward: one fp32 number for each query, each"
    " time."
)
FAILS = (
    "test_flash_must_move_each_tensor_once",
    "test_every_tile_of_queries_loads_all_keys_and_values",
    "test_backward_in_tiles_loads_in_both_directions",
    "test_any_compulsory_traffic",
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

    return moved.model_copy(update={"statistics": 0})
