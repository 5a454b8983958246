# %% [markdown]
# # Bytes held and bytes moved
#
# Sections 1 and 2 of the handout, `README.md`: the formulas and one worked number each.

# %%
"""What attention holds in HBM and what it moves, naive and flash, by what the bytes are of."""

from typing import Literal

from specs import DTYPE_BYTES, AttentionHbmBytes, AttentionTemporaryBytes, DType

AttentionAlgorithm = Literal["naive", "flash"]
Direction = Literal["forward", "backward"]

# Bytes of one statistic of a query, the logsumexp or delta: fp32, whatever the format of Q, K and V is.
STATISTIC_BYTES = 4


# %% nbgrader={"grade": false, "grade_id": "flash_attention.attention_temporary_bytes", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_temporary_bytes(
    algorithm: AttentionAlgorithm,
    sequence: int,
    head_dim: int,
    dtype: DType,
    heads: int = 1,
    batch: int = 1,
) -> AttentionTemporaryBytes:
    """Bytes that attention's forward pass puts into HBM and that stay there until the pass is over.

    Args:
        algorithm: "naive" writes the scores, (sequence, sequence) for each head, in `dtype`; their softmax
            takes the same place. Its output is not counted, as in the chapter's figure 3: it is as large as
            flash's, and nothing beside the scores.
            "flash" writes the output, (sequence, head_dim) for each head, in `dtype`, and one logsumexp for
            each query of each head, of `STATISTIC_BYTES`. The scores never leave the chip.
        sequence: tokens; each is a query and a key.
        head_dim: elements of one head's row of Q, K, V and O.
        dtype: format of Q, K, V, the scores and the output.
        heads, batch: heads of a sequence, and sequences; all exist at once.

    Returns:
        AttentionTemporaryBytes; a term that the algorithm does not have is 0.

    Source: FlashAttention (Dao et al. 2022), section 3.1.
    """
    ### BEGIN SOLUTION
    queries = batch * heads * sequence
    size = DTYPE_BYTES[dtype]
    if algorithm == "naive":
        return AttentionTemporaryBytes(scores=queries * sequence * size, output=0, logsumexp=0)
    return AttentionTemporaryBytes(
        scores=0, output=queries * head_dim * size, logsumexp=queries * STATISTIC_BYTES
    )
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "flash_attention.attention_hbm_bytes", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_hbm_bytes(
    algorithm: AttentionAlgorithm,
    direction: Direction,
    sequence: int,
    head_dim: int,
    dtype: DType,
    heads: int = 1,
    rows: int | None = None,
) -> AttentionHbmBytes:
    """Bytes that attention moves between HBM and the chip, without a causal mask.

    Every tensor is (sequence, head_dim) or (sequence, sequence) for each head, in `dtype`. What one kernel
    writes and the next one reads is moved twice. Below, each kernel reads what stands left of the arrow and
    writes what stands right of it, once.

    Args:
        algorithm, direction:
            "naive", "forward", three kernels:      Q, K → S       S → P        P, V → O
            "naive", "backward", five kernels:      P, dO → dV     dO, V → dP   P, dP → dS
                                                    dS, K → dQ     dS, Q → dK
            "flash", "forward", one kernel:         Q, K, V → O, lse
            "flash", "backward", see `rows`:        Q, K, V, O, dO, lse → dQ, dK, dV
        sequence, head_dim, dtype, heads: as in `attention_temporary_bytes`.
        rows: for "naive" it changes nothing. For "flash":
            None counts the compulsory traffic: each tensor of the lines above once, as if it were one kernel
            and the chip could hold everything.
            A number counts what is issued when tiles have that many rows, the last one perhaps fewer; with
            ⌈sequence / rows⌉ tiles.
            Forward: a program loads one tile of Q and then all of K and V, and writes its tile of O and lse.
            Backward, three kernels:
            - delta: O, dO → delta, each once;
            - keys: a program loads one tile of K and V and then all of Q, dO, lse and delta, and writes its
              tile of dK and dV;
            - queries: a program loads one tile of Q, dO, lse and delta and then all of K and V, and writes its
              tile of dQ.

    Returns:
        AttentionHbmBytes, of all heads. The logsumexp and delta have `STATISTIC_BYTES` for each query.

    Source: FlashAttention (Dao et al. 2022), algorithms 0 and 3; FlashAttention-2 (Dao 2023), section 3.1.
    """
    ### BEGIN SOLUTION
    tensor = heads * sequence * head_dim * DTYPE_BYTES[dtype]
    square = heads * sequence * sequence * DTYPE_BYTES[dtype]
    statistic = heads * sequence * STATISTIC_BYTES
    if algorithm == "naive":
        if direction == "forward":
            return AttentionHbmBytes(
                queries=tensor,
                keys_values=2 * tensor,
                scores=4 * square,
                output=tensor,
                statistics=0,
                gradients=0,
            )
        return AttentionHbmBytes(
            queries=tensor,
            keys_values=2 * tensor,
            scores=7 * square,
            output=2 * tensor,
            statistics=0,
            gradients=3 * tensor,
        )
    tiles = 1 if rows is None else -(-sequence // rows)
    if direction == "forward":
        return AttentionHbmBytes(
            queries=tensor,
            keys_values=2 * tiles * tensor,
            scores=0,
            output=tensor,
            statistics=statistic,
            gradients=0,
        )
    if rows is None:
        return AttentionHbmBytes(
            queries=tensor,
            keys_values=2 * tensor,
            scores=0,
            output=2 * tensor,
            statistics=statistic,
            gradients=3 * tensor,
        )
    return AttentionHbmBytes(
        queries=(tiles + 1) * tensor,
        keys_values=2 * (tiles + 1) * tensor,
        scores=0,
        output=(tiles + 3) * tensor,  # O once; dO in all three kernels, in one of them for every tile
        statistics=statistic + 2 * (tiles + 1) * statistic,
        gradients=3 * tensor,
    )
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "flash_attention.paper_hbm_elements", "locked": false, "schema_version": 3, "solution": true, "task": false}
def paper_hbm_elements(sequence: int, head_dim: int, on_chip_elements: int) -> int:
    """Elements that the first FlashAttention moves in one head's forward pass: the paper's Θ(N²d²/M), exactly.

    Its outer loop goes over tiles of K and V, of ⌈M / 4d⌉ rows each, the last one perhaps with fewer. Each tile
    is loaded once. For each of them all of Q, of O and of two statistics a query (the running maximum and sum)
    are loaded, and O and both statistics are written back. Writing their first values is not counted.

    Args:
        sequence: N, queries and keys.
        head_dim: d.
        on_chip_elements: M, elements of on-chip memory (SRAM), d ≤ M ≤ N·d.

    Returns:
        Elements read and written, together. An element of a statistic counts like any other.

    Source: FlashAttention (Dao et al. 2022), algorithm 1 and theorem 2.
    """
    ### BEGIN SOLUTION
    tile_rows = -(-on_chip_elements // (4 * head_dim))
    passes = -(-sequence // tile_rows)
    return 2 * sequence * head_dim + passes * (3 * sequence * head_dim + 4 * sequence)
    ### END SOLUTION
