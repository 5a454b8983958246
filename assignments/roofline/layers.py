# %% [markdown]
# # A transformer's step, op by op
#
# Section 6 of the handout, `README.md`: the formulas and one worked number each.

# %%
"""A transformer's step as a list of operations, its time on a roofline, and the MFU that follows."""

from collections.abc import Sequence
from typing import Literal

from specs import DTYPE_BYTES, Cost, DType, ElementFlops, Gpu, Model, OpCost, StepTime

Phase = Literal["forward", "backward", "prefill", "decode"]


# %%
def layer_costs(
    model: Model, batch: int, sequence: int, phase: Phase, dtype: DType, table: ElementFlops
) -> list[OpCost]:
    """What one step of a dense transformer costs, as a list of operations.

    Phases:
        "forward"   training, forward: T = batch·sequence tokens run through the model, up to the loss.
        "backward"  training, backward of that. The forward pass is not in it.
        "prefill"   as forward, without the loss, and the head runs for the last token of each sequence only.
        "decode"    one new token for each sequence, so T = batch everywhere. Attention reads a cache of
                    `sequence` tokens; the new one is among them. No loss.

    Write d = hidden, q = heads·head_dim, kv = kv_heads·head_dim, f = mlp.intermediate, V = vocab, L = layers,
    s = DTYPE_BYTES[dtype], and M = tokens that the head sees (batch in prefill and decode, else T).
    Everything is stored in `dtype` but indices (8 bytes) and logsumexp (fp32, 4 bytes). Each op is a kernel
    of its own: it reads its inputs once and writes its outputs once. The ops, by kind, each with its `count`:

    Kind "matmul": (m, k) × (k, n) has 2·m·k·n FLOPs, reads (m·k + k·n)·s, writes m·n·s.
        qkv               L    (T, d) × (d, q + 2·kv), one matmul; keys and values land in the cache
        attention_output  L    (T, q) × (q, d)
        mlp_up            L    (T, d) × (d, f)
        mlp_gate          L    as mlp_up; only if mlp.gated
        mlp_down          L    (T, f) × (f, d)
        head              1    (M, d) × (d, V); tied embeddings change nothing
    Kind "attention":
        attention         L    flash, causal. Pairs of a query and a key that it sees, for each of batch·heads:
                               sequence·(sequence + 1)/2, in decode `sequence`. FLOPs per pair:
                               4·head_dim + table.softmax. Reads the queries (T·q), keys and values
                               (2·batch·sequence·kv); writes its output (T·q) and, but for decode, a
                               logsumexp for each of T·heads.
    Kind "memory":
        embedding         1    no FLOPs; reads one row of d and one index a token, writes T·d
        norms             L·norms_per_layer (no op if that is 0)
                               table.layernorm or table.rmsnorm FLOPs for each of T·d; reads T·d and the
                               scale d (with norm_bias the bias d too), writes T·d
        rope              L    only if learned_positions == 0. On q and k, T·(q + kv) elements: table.rope
                               FLOPs each, read and written once; its cos and sin are computed on the way
        residuals         2·L  T·d additions: reads both summands, writes the sum
        activation        L    T·f outputs. Gated: reads two inputs for each, table.silu + 1 FLOPs. Not
                               gated: reads one, table.gelu FLOPs
        final_norm        1    only if model.final_norm; as one of the norms
        loss              1    forward and backward only. M·V logits, table.softmax FLOPs each; reads the
                               logits and M indices of targets, writes M logsumexps

    "backward" has the same ops with the same counts. Each reads the gradient of its output and what it needs
    of the forward pass again, and writes the gradients of its inputs and weights, all in `dtype`:
        matmuls           4·m·k·n FLOPs, two matmuls in one op: dX = dY·Wᵀ reads dY and W and writes dX,
                          dW = Xᵀ·dY reads X and dY and writes dW (dY is read twice)
        attention         5/2 of the forward's FLOPs, softmax included: five matmuls where forward had two.
                          Reads Q, K, V, O, dO and the logsumexp, writes dQ, dK, dV
        embedding         adds each token's gradient to its row's: T·d FLOPs; reads both and the index,
                          writes the row's
        norms, final_norm twice the FLOPs; reads dY, the input, and scale (and bias); writes dX and the
                          gradient of scale (and bias)
        rope, residuals   as forward: turn back; add up the gradients of the two branches
        activation        twice the FLOPs; reads dY and the inputs, writes the inputs' gradients
        loss              as forward, but writes the M·V gradients of the logits and no logsumexp

    Left out, as small or fused: biases and the table of learned positions, qk_norm, sinks, dropout, the
    optimizer.

    Args:
        model: dense, with grouped attention and no sliding window.
        batch: sequences.
        sequence: tokens in a sequence, or in the cache of each.
        dtype: format of weights, activations, gradients and cache.
        table: FLOPs per element of what is no matmul.

    Returns:
        One OpCost(name, kind, count, cost) for each op above; `cost` is of one run. Their order does not
        matter.

    Raises:
        ValueError: `experts`, latent `attention` or `window` is in the model; the message names which.

    Source: FlashAttention-2 (Dao 2023, arXiv 2307.08691), sections 2.3.2 and 4.1, for attention.
    """
    raise NotImplementedError("write me")


# %%
def step_time(ops: Sequence[OpCost], gpu: Gpu, dtype: DType) -> StepTime:
    """Time of a step on the roofline, by kind of operation.

    The ops run one after another, each `count` times, and each run takes as long as the slower of its two
    bills: FLOPs at the peak or bytes at the bandwidth. Which one that is differs from op to op. All FLOPs are
    taken at the peak of `dtype`, those of softmax and norms too: a lower bound, like everything here.

    Args:
        ops: what `layer_costs` returns, or several of its lists joined.
        gpu: `gpu.peak_flops(dtype)` in FLOP/s, `gpu.hbm_bytes_per_s` in bytes/s.
        dtype: the format whose peak counts.

    Returns:
        StepTime(matmul, attention, memory), in seconds; 0 for a kind of which there is no op.

    Source: Williams et al. 2009, "Roofline"; Yuan et al. 2024 (arXiv 2402.16363), section 2, op by op.
    """
    raise NotImplementedError("write me")


# %%
def predicted_mfu(ops: Sequence[OpCost], gpu: Gpu, dtype: DType) -> float:
    """Model FLOPs utilisation that the roofline predicts for a step: the most that it could reach.

    The model's FLOPs are those of the ops of kind "matmul" and "attention"; what kind "memory" computes does
    not count as useful, and its time does count. The step takes as long as `step_time` says: the ops one
    after another, each run the longer of FLOPs over peak and bytes over bandwidth.

        model FLOPs / (time of the whole step · peak)

    Args:
        ops: the ops of a step, each `count` times; for training the lists of forward and backward joined.
            At least one op, not all of them free.
        gpu: `gpu.peak_flops(dtype)` in FLOP/s, `gpu.hbm_bytes_per_s` in bytes/s.
        dtype: the format whose peak counts.

    Returns:
        A fraction between 0 and 1.

    Source: PaLM (Chowdhery et al. 2022, arXiv 2204.02311), appendix B, for what MFU counts.
    """
    raise NotImplementedError("write me")
