"""Kernels whose traffic can be counted by hand, and a child process that runs them recorded: `python -m` this module.

The child is interpreted, pytest is not. It prints one JSON object: case to evidence, error and what else a test asks.
"""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra import libdevice

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def recorded(group: str) -> dict[str, Any]:
    """Evidence by case, from one fresh child for each group (`meter`, `sanitizer`)."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.kernels.recorder_kernels", group]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-4000:])
    cases: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return cases


@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(
            a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0
        )
        b = tl.load(
            b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0
        )
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def matmul(a: Tensor, b: Tensor, precision: str = "tf32") -> Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype)
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 32))
    matmul_kernel[grid](a, b, c, M, N, K, BM=64, BN=32, BK=16, PRECISION=precision, num_warps=8)
    return c


@triton.jit
def split_k_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn = tl.arange(0, BM), tl.arange(0, BN)
    rk = tl.program_id(0) * BK + tl.arange(0, BK)
    a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
    b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
    tl.atomic_add(
        c_ptr + rm[:, None] * N + rn[None, :], tl.dot(a, b), mask=(rm[:, None] < M) & (rn[None, :] < N)
    )


def split_k(a: Tensor, b: Tensor) -> Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.zeros((M, N))
    split_k_kernel[(triton.cdiv(K, 16),)](a, b, c, M, N, K, BM=32, BN=32, BK=16)
    return c


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < columns
    x = tl.load(x_ptr + offsets, mask=inside, other=float("-inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + offsets, e / tl.sum(e, axis=0), mask=inside)


def softmax(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=128)
    return out


@triton.jit
def scores(q, k, keys, rows, T, CAUSAL: tl.constexpr):
    s = tl.dot(q, tl.trans(k)) * 0.125
    seen = (keys[None, :] < T) & ((keys[None, :] <= rows[:, None]) if CAUSAL else (rows[:, None] >= 0))
    return tl.where(seen, s, float("-inf"))


@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse_ptr,
    row_stride,
    T,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    head, tile = tl.program_id(1), tl.program_id(0)
    rows, dims = tile * BLOCK + tl.arange(0, BLOCK), tl.arange(0, D)
    q = tl.load(
        q_ptr + head * D + rows[:, None] * row_stride + dims[None, :], mask=rows[:, None] < T, other=0.0
    )
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    acc = tl.zeros((BLOCK, D), tl.float32)
    end = tl.minimum((tile + 1) * BLOCK, T) if CAUSAL else T
    for start in range(0, end, BLOCK):
        keys = start + tl.arange(0, BLOCK)
        offsets = head * D + keys[:, None] * row_stride + dims[None, :]
        k = tl.load(k_ptr + offsets, mask=keys[:, None] < T, other=0.0)
        v = tl.load(v_ptr + offsets, mask=keys[:, None] < T, other=0.0)
        s = scores(q, k, keys, rows, T, CAUSAL)
        new_top = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new_top[:, None])
        shrink = tl.exp(top - new_top)
        total = total * shrink + tl.sum(p, axis=1)
        acc = acc * shrink[:, None] + tl.dot(p.to(v.dtype), v)
        top = new_top
    H: tl.constexpr = 2
    tl.store(
        o_ptr + rows[:, None] * H * D + head * D + dims[None, :], acc / total[:, None], mask=rows[:, None] < T
    )
    tl.store(lse_ptr + head * T + rows, top + tl.log(total), mask=rows < T)


def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> tuple[Tensor, Tensor]:
    """q, k, v of (T, 2, D), of any row stride."""
    T, H, D = q.shape
    o, lse = torch.empty((T, H, D), dtype=q.dtype), torch.empty((H, T))
    grid = (triton.cdiv(T, 32), H)
    attention_kernel[grid](q, k, v, o, lse, q.stride(0), T, D=D, BLOCK=32, CAUSAL=causal)
    return o, lse


def packed_attention(qkv: Tensor) -> Tensor:
    """qkv of (T, 3, 2, D), interleaved."""
    q, k, v = qkv.unbind(1)
    return attention(q, k, v)[0]


@triton.jit
def block_copy_kernel(src_ptr, dst_ptr, M, N, BLOCK: tl.constexpr):
    src = tl.make_block_ptr(src_ptr, (M, N), (N, 1), (tl.program_id(0) * BLOCK, 0), (BLOCK, 64), (1, 0))
    tile = tl.load(src, boundary_check=(0, 1))
    dst = tl.make_tensor_descriptor(dst_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK, 64])
    dst.store([tl.program_id(0) * BLOCK, 0], tile)


def block_copy(src: Tensor) -> Tensor:
    dst = torch.empty_like(src)
    block_copy_kernel[(triton.cdiv(src.shape[0], 16),)](src, dst, *src.shape, BLOCK=16)
    return dst


@triton.autotune(configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64}, num_warps=2)], key=["n"])
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = tl.load(y_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x + y, mask=offsets < n)


def add(x: Tensor, y: Tensor) -> Tensor:
    out = torch.empty_like(x)
    add_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y_ptr=y, out_ptr=out, n=x.numel())
    return out


def double_by_two_names(x: Tensor) -> Tensor:
    return add(x, x)


def launch_under_other_names(first: Tensor, second: Tensor) -> Tensor:
    return add(first.reshape(-1), second.reshape(-1))


@triton.jit
def copy_kernel(src_ptr, dst_ptr, bias_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(src_ptr + offsets, mask=offsets < n, other=0)
    if bias_ptr is not None:
        x += tl.load(bias_ptr)
    tl.store(dst_ptr + offsets, x, mask=offsets < n)


def copy(src: Tensor, bias: Tensor | None = None) -> Tensor:
    dst = torch.empty_like(src)
    copy_kernel[(triton.cdiv(src.numel(), 32),)](src, dst, bias, src.numel(), BLOCK=32)
    return dst


@triton.jit
def gather_pointers_kernel(table_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    source = tl.load(table_ptr + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    x = tl.load(source + offsets, mask=offsets < n)
    tl.store(out_ptr + tl.program_id(0) * n + offsets, x, mask=offsets < n)


def stack_by_addresses(first: Tensor, second: Tensor) -> Tensor:
    table = torch.tensor([first.data_ptr(), second.data_ptr()])
    out = torch.empty((2, first.numel()))
    gather_pointers_kernel[(2,)](table, out, first.numel(), BLOCK=32)
    return out


@triton.jit
def libdevice_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    odd = libdevice.isinf(x) | libdevice.isnan(x)
    y = libdevice.ldexp(libdevice.logb(x), 1)
    y += libdevice.tanh(x) + libdevice.fast_expf(x) + libdevice.sqrt_rn(x)
    tl.store(out_ptr + offsets, tl.where(odd, 0.0, y))


def libdevice_functions(x: Tensor) -> Tensor:
    """Three of its seven are for the special-function units."""
    out = torch.empty_like(x)
    libdevice_kernel[(1,)](x, out, BLOCK=64)
    return out


class Double(torch.autograd.Function):
    """Twice its input, both ways by a kernel."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        twice = torch.empty_like(x)
        copy_kernel[(1,)](x, twice, x, x.numel(), BLOCK=32)
        return twice

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> Tensor:
        (saved,) = ctx.saved_tensors
        gradient = torch.empty_like(saved)
        copy_kernel[(1,)](upstream, gradient, None, saved.numel(), BLOCK=32)
        return gradient


def gradient_of_double(x: Tensor) -> Tensor:
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(Double.apply(x), x, torch.full_like(x, 3.0))
    return gradient


def meter_cases() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    torch.manual_seed(0)
    a, b, x, qkv = torch.randn(130, 70), torch.randn(70, 40), torch.randn(5, 100), torch.randn(100, 3, 2, 32)
    q, k, v = (part.contiguous() for part in qkv.unbind(1))
    line = torch.arange(100.0)
    return {
        "matmul": (matmul, (a, b)),
        "matmul ieee": (matmul, (a, b, "ieee")),
        "matmul fp16": (matmul, (a.half(), b.half())),
        "matmul bf16": (matmul, (a.bfloat16(), b.bfloat16())),
        "split-K": (split_k, (a[:30].contiguous(), b[:, :20].contiguous())),
        "softmax": (softmax, (x,)),
        "attention": (attention, (q, k, v)),
        "attention causal": (attention, (q, k, v, True)),
        "attention bf16": (attention, (q.bfloat16(), k.bfloat16(), v.bfloat16())),
        "attention packed": (packed_attention, (qkv,)),
        "block copy": (block_copy, (torch.randn(40, 48),)),
        "autotuned": (add, (line, line + 1)),
        "one tensor, two names": (double_by_two_names, (line,)),
        "other names": (launch_under_other_names, (torch.randn(10, 10), torch.randn(10, 10))),
        "no bias": (copy, (line,)),
        "bias": (copy, (line, torch.ones(1))),
        "int64": (copy, (torch.arange(100),)),
        "bool": (copy, (torch.arange(100) % 3 == 0,)),
        "nothing to do": (copy, (torch.empty(0),)),
        "addresses": (stack_by_addresses, (line[:20].clone(), line[20:40].clone())),
        "libdevice": (libdevice_functions, (torch.rand(64) + 1,)),
        "autograd": (gradient_of_double, (torch.ones(1),)),
    }


def main() -> None:
    torch.set_num_threads(1)
    from grader.kernels import recorder

    if sys.argv[1] == "meter":
        cases = meter_cases()
    else:
        from tests.kernels.recorder_faults import CASES as cases
    out = {}
    for name, (function, arguments, *options) in cases.items():
        result = recorder.call_recorded(function, arguments, {}, **(options[0] if options else {}))
        out[name] = {
            "evidence": result.evidence.model_dump(),
            "error": None if result.error is None else type(result.error).__name__,
            "changed": recorder.changed(),
        }
    print(json.dumps(out))


if __name__ == "__main__":
    main()
