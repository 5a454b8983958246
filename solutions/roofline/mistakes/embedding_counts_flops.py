"""A lookup counts a multiplication and an addition for each element."""

from specs import Cost, DType

from ..costs import embedding_cost as right

EXERCISE = "memory_bound_costs"
HINT = "A lookup computes nothing. It may be written as a matmul with one-hot vectors; no kernel does that."
FAILS = (
    "test_an_embedding_copies_rows_and_reads_indices",
    "test_any_embedding",
)


def embedding_cost(tokens: int, hidden: int, dtype: DType, index_bytes: int = 8) -> Cost:
    return right(tokens, hidden, dtype, index_bytes).model_copy(update={"flops": 2 * tokens * hidden})
