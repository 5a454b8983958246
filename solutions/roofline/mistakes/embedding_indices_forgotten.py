"""The indices of an embedding are not read."""

from specs import Cost, DType

from ..costs import embedding_cost as right

EXERCISE = "memory_bound_costs"
HINT = "To know which rows to fetch, the kernel reads an index for each token."
FAILS = (
    "test_an_embedding_copies_rows_and_reads_indices",
    "test_any_embedding",
)


def embedding_cost(tokens: int, hidden: int, dtype: DType, index_bytes: int = 8) -> Cost:
    return right(tokens, hidden, dtype, 0)
