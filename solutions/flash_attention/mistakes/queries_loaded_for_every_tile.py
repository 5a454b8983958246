"""The loops are swapped: all queries are loaded for every tile of keys."""

from specs import AttentionHbmBytes, DType

from ..traffic import AttentionAlgorithm, Direction
from ..traffic import attention_hbm_bytes as right

EXERCISE = "attention_hbm_bytes"
HINT = (
    "In the forward kernel a program owns a tile of queries: Q is loaded once, and K and V once for each "
    "tile."
)
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

    if algorithm == "flash" and rows is not None and direction == "forward":
        tiles = -(-sequence // rows)
        return moved.model_copy(
            update={
                "queries": moved.queries * tiles,
                "keys_values": moved.keys_values / tiles,
                "output": moved.output * tiles,
            }
        )
    return moved
