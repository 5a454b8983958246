"""The looked-up rows are not written."""

from specs import Cost, DType

from ..costs import embedding_cost as right

EXERCISE = "memory_bound_costs"
HINT = "The rows are copied: what is read from the table is written as the result."
FAILS = (
    "test_an_embedding_copies_rows_and_reads_indices",
    "test_any_embedding",
)


def embedding_cost(tokens: int, hidden: int, dtype: DType, index_bytes: int = 8) -> Cost:
    return right(tokens, hidden, dtype, index_bytes).model_copy(update={"bytes_written": 0})
