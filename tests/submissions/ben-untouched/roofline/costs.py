# %% [markdown]
# # Costs: FLOPs and the fewest bytes
#
# Sections 1 and 2 of the handout, `README.md`: the formulas and one worked number each.

# %%
"""What an operation costs: FLOPs, and the fewest bytes that it can move between HBM and the chip."""

from typing import Literal

from specs import DTYPE_BYTES, Cost, DType, ElementFlops, Recipe

NormKind = Literal["layernorm", "rmsnorm"]
AttentionAlgorithm = Literal["naive", "flash"]

# Bytes of one softmax statistic, the logsumexp, which flash attention keeps in fp32 whatever its inputs are.
LOGSUMEXP_BYTES = DTYPE_BYTES["fp32"]


# %%
def matmul_cost(
    m: int,
    n: int,
    k: int,
    dtype: DType,
    batch: int = 1,
    weight_dtype: DType | None = None,
    output_dtype: DType | None = None,
) -> Cost:
    """Cost of `batch` independent matmuls (m, k) × (k, n), each with its own two operands.

    A linear layer whose weights all tokens share is one matmul: batch 1, m tokens, k inputs, n outputs.

    Args:
        m, n, k: rows of the result, columns of the result, and the length of its dot products.
        dtype: format of the (m, k) operand; of the other two matrices as well unless they are given theirs.
        batch: how many such matmuls.
        weight_dtype: format of the (k, n) operand, for quantised weights; None means `dtype`.
        output_dtype: format of the (m, n) result; None means `dtype`.

    Returns:
        Cost. `flops`: a multiplication and an addition for each of the k terms of each result, two FLOPs;
        converting quantised weights counts nothing. `bytes_read`: both operands, each element once.
        `bytes_written`: the result, once. `DTYPE_BYTES` has the bytes of one element, half a byte for
        the formats of 4 bits, so bytes may be fractional; floats are as good as integers.

    Source: How to Scale Your Model (Austin et al. 2025), chapter on rooflines.
    """
    raise NotImplementedError("write me")


# %%
def elementwise_cost(elements: int, inputs: int, flops_per_element: float, dtype: DType) -> Cost:
    """Cost of an operation that makes one tensor, element by element, from others of the same size.

    Args:
        elements: elements of the result, and of each input.
        inputs: tensors that are read; an activation function has 1, a residual addition 2, a fill with zeros
            none.
        flops_per_element: FLOPs for one element of the result, over all inputs together.
        dtype: format of the result and of every input.

    Returns:
        Cost: `flops` of all elements; every element of every input read once; the result written once.
    """
    raise NotImplementedError("write me")


# %%
def softmax_cost(rows: int, columns: int, dtype: DType, table: ElementFlops) -> Cost:
    """Cost of a softmax over each row of a (rows, columns) matrix, in one kernel.

    Args:
        rows, columns: of the matrix; the softmax runs along the columns.
        dtype: format of input and result.
        table: `table.softmax` is the FLOPs of one element, the row's maximum and sum included.

    Returns:
        Cost. A row stays on the chip while its maximum and its sum are found: so the matrix is read once,
        not once for each pass, and the result, as large, is written once.
    """
    raise NotImplementedError("write me")


# %%
def norm_cost(kind: NormKind, rows: int, width: int, dtype: DType, table: ElementFlops) -> Cost:
    """Cost of a norm over each row of a (rows, width) matrix, in one kernel.

    Args:
        kind: "layernorm", which has a weight and a bias, or "rmsnorm", which has a weight and no bias.
        rows, width: of the matrix; weight and bias have `width` elements each.
        dtype: format of input, result, weight and bias.
        table: `table.layernorm` or `table.rmsnorm` is the FLOPs of one element, weight and bias included.

    Returns:
        Cost. The matrix is read once; weight and bias are read once, however many rows use them. The result
        is written once; the row's statistics, which a training kernel may keep, are not counted.
    """
    raise NotImplementedError("write me")


# %%
def embedding_cost(tokens: int, hidden: int, dtype: DType, index_bytes: int = 8) -> Cost:
    """Cost of looking up one row of an embedding table for each token.

    Args:
        tokens: tokens looked up, in all sequences.
        hidden: elements of one row.
        dtype: format of the table and of the result.
        index_bytes: bytes of one token's index; 8 is the int64 of PyTorch.

    Returns:
        Cost. No FLOPs: it is a copy. Read are the indices, and for every token its row, also where two
        tokens want the same; the rest of the table is not touched. Written is the result, (tokens, hidden).
    """
    raise NotImplementedError("write me")


# %%
def optimizer_step_cost(parameters: int, recipe: Recipe, table: ElementFlops) -> Cost:
    """Cost of one optimizer step over all parameters, in one fused kernel.

    Args:
        parameters: parameters that are updated.
        recipe: which copies of a parameter there are, and in which format (`recipe.adapters` is None here).
            A field that is None is not kept and moves no bytes.
        table: `table.adamw` is the FLOPs of one parameter; it is used whatever `recipe.optimizer` says.

    Returns:
        Cost. Read, once each:
        - the gradient: in the format of `recipe.gradient_accumulation` where that is not None, because the
          step then uses the accumulated buffer and leaves the gradient alone; else of `recipe.gradients`;
        - what is updated: the master copy, or the weights where there is no master copy;
        - every moment.
        Written, once each: the weights, the master copy where there is one, and every moment. Gradients are
        not written: setting them to zero is another kernel.

    Source: AdamW (Loshchilov and Hutter 2019), algorithm 2; ZeRO (Rajbhandari et al. 2020), section 3.1.
    """
    raise NotImplementedError("write me")


# %%
def attention_cost(
    batch: int,
    heads: int,
    kv_heads: int,
    queries: int,
    keys: int,
    head_dim: int,
    dtype: DType,
    algorithm: AttentionAlgorithm,
    table: ElementFlops,
    causal: bool = False,
) -> Cost:
    """Cost of the forward pass of attention, from Q, K and V to O, all in HBM.

    Q and O are (batch, heads, queries, head_dim); K and V are (batch, kv_heads, keys, head_dim), each of them
    used by heads / kv_heads query heads. The scores S, and P = softmax(S), are (batch, heads, queries, keys).

    Args:
        dtype: format of Q, K, V, S, P and O.
        algorithm: "naive" is three kernels:
            - scores: reads Q and K, writes S;
            - softmax: reads S, writes P;
            - values: reads P and V, writes O.
            "flash" is one kernel: reads Q, K and V, each once; writes O, and the logsumexp of every query in
            every head, `LOGSUMEXP_BYTES` each. S and P never leave the chip.
        table: `table.softmax` is the FLOPs of one score in the softmax.
        causal: no query sees a key that comes after it. The last query stands at the last key (aligned
            bottom right; queries <= keys), so query i of 0, 1, ... sees keys - queries + i + 1 keys.

    Returns:
        Cost. A pair is one query and one key of one head; its FLOPs are 2·head_dim for the score, 2·head_dim
        for the weighted value, and `table.softmax`. Scaling and masking count nothing. The pairs are
        - queries · keys for each head of each sequence, and
        - only those that are seen, counted exactly, when a causal mask meets flash, which skips the others.
          Naive computes them all and masks, so under naive `causal` changes neither FLOPs nor bytes.
        Bytes are the same with and without the mask, for both algorithms.

    Source: FlashAttention (Dao et al. 2022), algorithms 0 and 1; FlashAttention-2 (Dao 2023), section 3.1.
    """
    raise NotImplementedError("write me")


# %%
def decode_cost(
    batch: int,
    heads: int,
    kv_heads: int,
    context: int,
    head_dim: int,
    dtype: DType,
    table: ElementFlops,
    cache_dtype: DType | None = None,
) -> Cost:
    """Cost of attention for one new token of each sequence against that sequence's cache, in one kernel.

    Args:
        batch: sequences, each with one new token and a cache of its own.
        heads, kv_heads, head_dim: as in `attention_cost`; the cache holds kv_heads keys and kv_heads values
            of head_dim elements for every token.
        context: tokens in a sequence's cache. The new one is among them: an earlier kernel has put its key
            and value there, which is not counted here.
        dtype: format of the query and of the result.
        table: `table.softmax` is the FLOPs of one score in the softmax.
        cache_dtype: format of the cached keys and values; None means `dtype`. Converting counts nothing.

    Returns:
        Cost. FLOPs of `context` pairs for each head of each sequence, a pair being 4·head_dim +
        `table.softmax` FLOPs. Read are the query and all of the cache, each once; written is the result, as
        large as the query, and nothing else: no backward pass follows, so no logsumexp is kept.

    Source: Efficiently Scaling Transformer Inference (Pope et al. 2022), section 3.3.
    """
    raise NotImplementedError("write me")
