"""The number of tiles is rounded down."""

from specs import AttentionHbmBytes, DType

from ..traffic import AttentionAlgorithm, Direction
from ..traffic import attention_hbm_bytes as right

EXERCISE = "attention_hbm_bytes"
HINT = "The last tile may have fewer rows and still loads all keys and values: round the number of tiles up."
FAILS = (
    "test_every_tile_of_queries_loads_all_keys_and_values",
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

    if algorithm == "flash" and rows is not None and sequence > rows:
        return right(algorithm, direction, sequence // rows * rows, head_dim, dtype, heads, rows).model_copy(
            update={
                "queries": moved.queries,
                "output": moved.output,
                "statistics": moved.statistics,
                "gradients": moved.gradients,
                "keys_values": moved.keys_values * (sequence // rows) / -(-sequence // rows),
            }
        )
    return moved
