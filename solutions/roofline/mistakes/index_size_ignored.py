"""Every index is taken to have 8 bytes."""

from specs import Cost, DType

from ..costs import embedding_cost as right

EXERCISE = "memory_bound_costs"
HINT = "You take 8 bytes for each index whatever index_bytes says."
FAILS = (
    "test_an_embedding_copies_rows_and_reads_indices",
    "test_any_embedding",
)


def embedding_cost(tokens: int, hidden: int, dtype: DType, index_bytes: int = 8) -> Cost:
    return right(tokens, hidden, dtype)
