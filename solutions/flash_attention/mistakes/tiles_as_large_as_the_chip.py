"""The paper's tiles are taken to fill the chip alone."""

EXERCISE = "attention_hbm_bytes"
HINT = "On the chip are tiles of Q, K, V and O at once: a tile of keys has ⌈M / 4d⌉ rows."
FAILS = (
    "test_the_paper_moves_n_squared_d_squared_over_m",
    "test_any_on_chip_memory",
)


def paper_hbm_elements(sequence: int, head_dim: int, on_chip_elements: int) -> int:
    passes = -(-sequence // -(-on_chip_elements // head_dim))
    return 2 * sequence * head_dim + passes * (3 * sequence * head_dim + 4 * sequence)
