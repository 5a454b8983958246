"""FlashAttention forward in the manner of course handouts: block pointers, a program per query tile and batch row."""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn
from tests.kernels.oracle import attention


@triton.jit
def flash_fwd_kernel(
    Q_ptr, K_ptr, V_ptr, O_ptr, L_ptr,
    stride_qb, stride_qq, stride_qd, stride_kb, stride_kk, stride_kd, stride_vb, stride_vk, stride_vd,
    stride_ob, stride_oq, stride_od, stride_lb, stride_lq, N_QUERIES, N_KEYS, scale,
    D: tl.constexpr, Q_TILE: tl.constexpr, K_TILE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    batch = tl.program_id(1)
    Q_block = tl.make_block_ptr(
        Q_ptr + batch * stride_qb,
        (N_QUERIES, D),
        (stride_qq, stride_qd),
        (tile * Q_TILE, 0),
        (Q_TILE, D),
        (1, 0),
    )
    K_block = tl.make_block_ptr(
        K_ptr + batch * stride_kb, (N_KEYS, D), (stride_kk, stride_kd), (0, 0), (K_TILE, D), (1, 0)
    )
    V_block = tl.make_block_ptr(
        V_ptr + batch * stride_vb, (N_KEYS, D), (stride_vk, stride_vd), (0, 0), (K_TILE, D), (1, 0)
    )
    O_block = tl.make_block_ptr(
        O_ptr + batch * stride_ob,
        (N_QUERIES, D),
        (stride_oq, stride_od),
        (tile * Q_TILE, 0),
        (Q_TILE, D),
        (1, 0),
    )
    L_block = tl.make_block_ptr(
        L_ptr + batch * stride_lb, (N_QUERIES,), (stride_lq,), (tile * Q_TILE,), (Q_TILE,), (0,)
    )
    q = tl.load(Q_block, boundary_check=(0,), padding_option="zero")
    o = tl.zeros((Q_TILE, D), dtype=tl.float32)
    l = tl.zeros((Q_TILE,), dtype=tl.float32)  # noqa: E741
    m = tl.full((Q_TILE,), -float("inf"), dtype=tl.float32)
    q_pos = tile * Q_TILE + tl.arange(0, Q_TILE)
    for j in range(tl.cdiv(N_KEYS, K_TILE)):
        k = tl.load(K_block, boundary_check=(0,), padding_option="zero")
        v = tl.load(V_block, boundary_check=(0,), padding_option="zero")
        s = tl.dot(q, tl.trans(k)) * scale
        k_pos = j * K_TILE + tl.arange(0, K_TILE)
        s = tl.where(k_pos[None, :] < N_KEYS, s, -float("inf"))
        if CAUSAL:
            s = tl.where(q_pos[:, None] >= k_pos[None, :], s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp(s - m_new[:, None])
        alpha = tl.exp(m - m_new)
        l = alpha * l + tl.sum(p, axis=1)  # noqa: E741
        o = o * alpha[:, None]
        o = tl.dot(p.to(v.dtype), v, acc=o)
        m = m_new
        K_block = K_block.advance((K_TILE, 0))
        V_block = V_block.advance((K_TILE, 0))
    tl.store(O_block, (o / l[:, None]).to(O_block.type.element_ty), boundary_check=(0,))
    tl.store(L_block, m + tl.log(l), boundary_check=(0,))


def flash(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> tuple[Tensor, Tensor]:
    """(B, T, D) each; gives the output and the logsumexp (B, T)."""
    B, T, D = q.shape
    o = torch.empty_like(q)
    lse = torch.empty((B, T), dtype=torch.float32, device=q.device)
    flash_fwd_kernel[(triton.cdiv(T, 32), B)](
        q, k, v, o, lse, *q.stride(), *k.stride(), *v.stride(), *o.stride(), *lse.stride(), T, k.shape[1],
        1 / math.sqrt(D), D=D, Q_TILE=32, K_TILE=32, CAUSAL=causal,
    )  # fmt: skip
    return o, lse


def ragged(dtype: torch.dtype, seed: int) -> Inputs:
    q, k, v = (randn(2, T, 32, dtype=dtype, seed=seed + i) for i, T in enumerate((70, 90, 90)))
    return (2 * q, k, v), {}


def causal(dtype: torch.dtype, seed: int) -> Inputs:
    q, k, v = (randn(2, 77, 32, dtype=dtype, seed=seed + i) for i in range(3))
    return (2 * q, k, v), {"causal": True}


CASES = [
    Case("attention_block_pointers", flash, ragged, attention),
    Case("attention_block_pointers_causal", flash, causal, attention),
]
