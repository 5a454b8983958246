"""Indices from memory: an embedding lookup, argmax of rows, and cross-entropy of logits at their targets."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def embedding_kernel(ids_ptr, table_ptr, out_ptr, D, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    row = tl.load(ids_ptr + token)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + token * D + d, tl.load(table_ptr + row * D + d, mask=d < D), mask=d < D)


def embedding(ids: Tensor, table: Tensor) -> Tensor:
    D = table.shape[1]
    out = torch.empty((*ids.shape, D), dtype=table.dtype, device=table.device)
    embedding_kernel[(ids.numel(), triton.cdiv(D, 32))](ids, table, out, D, BLOCK=32)
    return out


@triton.jit
def argmax_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + columns, mask=columns < N, other=-float("inf")).to(tl.float32)
    tl.store(out_ptr + row, tl.argmax(x, axis=0))


def argmax(x: Tensor) -> Tensor:
    out = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
    argmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


@triton.jit
def cross_entropy_kernel(logits_ptr, target_ptr, loss_ptr, V, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(target_ptr + row)
    # −100 marks a row that does not count; its target is never looked up.
    counts = target != -100
    m = -float("inf")
    total = 0.0
    for start in range(0, V, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * stride + columns, mask=columns < V, other=-float("inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, 0))
        total = total * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), 0)
        m = m_new
    at_target = tl.load(logits_ptr + row * stride + target, mask=counts, other=0.0).to(tl.float32)
    tl.store(loss_ptr + row, tl.where(counts, m + tl.log(total) - at_target, 0.0))


def cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    loss = torch.empty(logits.shape[0], dtype=torch.float32, device=logits.device)
    cross_entropy_kernel[(logits.shape[0],)](
        logits, target, loss, logits.shape[1], logits.stride(0), BLOCK=64
    )
    return loss


def ids(dtype: torch.dtype, seed: int) -> Inputs:
    return (torch.tensor([3, 0, 10, 10, 7, 1]), randn(11, 50, dtype=dtype, seed=seed)), {}


def rows(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(25, 77, dtype=dtype, seed=seed),), {}


def logits(dtype: torch.dtype, seed: int) -> Inputs:
    target = torch.arange(20) * 7 % 150
    target[4] = -100
    return (randn(20, 160, dtype=dtype, seed=seed)[:, :150], target), {}


def cross_entropy_reference(m, logits: Tensor, target: Tensor) -> Tensor:
    wide = m.up(logits)
    top = wide.max(-1).values
    lse = top + torch.log(m.sum(torch.exp(wide - top[:, None]), -1))
    at_target = wide.gather(1, target.clamp(min=0)[:, None])[:, 0]
    return torch.where(target == -100, 0.0, lse - at_target)


CASES = [
    Case("embedding_gather", embedding, ids, lambda m, ids, table: m.up(table)[ids]),
    Case("argmax_rows", argmax, rows, lambda m, x: m.up(x).argmax(-1)),
    Case("cross_entropy_ignore_index", cross_entropy, logits, cross_entropy_reference),
]
