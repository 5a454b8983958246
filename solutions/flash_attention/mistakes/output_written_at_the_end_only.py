"""The paper's first algorithm is taken to write O once."""

EXERCISE = "attention_hbm_bytes"
HINT = (
    "In the first algorithm the loop over keys is outside: O and both statistics are read and written in "
    "every pass."
)
FAILS = (
    "test_the_paper_moves_n_squared_d_squared_over_m",
    "test_any_on_chip_memory",
)


def paper_hbm_elements(sequence: int, head_dim: int, on_chip_elements: int) -> int:
    passes = -(-sequence // -(-on_chip_elements // (4 * head_dim)))
    return 3 * sequence * head_dim + 2 * sequence + passes * sequence * head_dim
