"""FlashAttention backward, host side: checks, launches of the three kernels, tile sizes."""

from typing import Any

import torch
import triton
from torch import Tensor

from kernels_ref import tiles
from kernels_ref.flash.backward_kernels import flash_delta_kernel, flash_dkdv_kernel, flash_dq_kernel
from kernels_ref.flash.forward import check_call, use_descriptors
from kernels_ref.naive import softmax_scale
from kernels_ref.tuning import Config, pick

CONFIGS_DKDV = (
    Config(rows=64, columns=128, warps=8, stages=3),
    Config(rows=64, columns=128, warps=8, stages=2),
    Config(rows=64, columns=64, warps=4, stages=2),
    Config(rows=32, columns=128, warps=8, stages=2),
    Config(rows=64, columns=64, warps=8, stages=2),
    Config(rows=32, columns=64, warps=4, stages=2),
    Config(rows=32, columns=64, warps=8, stages=2),
    Config(rows=16, columns=32, warps=4, stages=1),
)
CONFIGS_DQ = (
    Config(rows=128, columns=64, warps=8, stages=2),
    Config(rows=64, columns=64, warps=4, stages=2),
    Config(rows=128, columns=64, warps=8, stages=3),
    Config(rows=64, columns=128, warps=8, stages=2),
    Config(rows=128, columns=32, warps=8, stages=2),
    Config(rows=64, columns=32, warps=4, stages=2),
    Config(rows=32, columns=16, warps=4, stages=1),
)
"""rows: queries of a tile; columns: keys of a tile. The last of each has room even for fp32 at D = 256."""

DELTA_ROWS = 64


def flash_attention_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    grad_out: Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    precision: str = "ieee",
    configs: tuple[Config | None, Config | None] = (None, None),
    descriptors: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `flash_attention_forward`'s output.

    Args:
        q, k, v, causal, scale, precision, descriptors: as given to `flash_attention_forward`.
        out, lse: what it returned; grad_out: gradient of out, (..., H, T_q, D) of any strides.
        configs: tile sizes of the dK/dV kernel and of the dQ kernel; None as in `flash_attention_forward`.

    Returns:
        dq, dk, dv in the shapes and dtypes of q, k, v, contiguous. 0 for queries that see no key.

    Raises:
        ValueError, TypeError: as `flash_attention_forward`; also for out, lse, grad_out of other shapes.
    """
    check_call(q, k, v, scale)
    if out.shape != q.shape or grad_out.shape != q.shape or lse.shape != q.shape[:-1]:
        raise ValueError(
            f"out {tuple(out.shape)}, grad_out {tuple(grad_out.shape)}, lse {tuple(lse.shape)} for q "
            f"{tuple(q.shape)}: the first two must have q's shape, lse that without its last dimension"
        )
    queries, keys, values, outs, grads = (
        tiles.four_dimensional(each) for each in (q, k, v, out, grad_out.to(q.dtype))
    )
    batch, heads, length, width = queries.shape
    kv_heads, key_length = keys.shape[1:3]
    padded = tiles.padded_width(width)
    lse = lse.contiguous()
    delta = torch.empty(queries.shape[:-1], dtype=torch.float32, device=q.device)
    grad_q, grad_k, grad_v = (
        torch.empty(each.shape, dtype=q.dtype, device=q.device) for each in (queries, keys, values)
    )
    if not queries.numel() or not keys.numel():
        return torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    flash_delta_kernel[(triton.cdiv(length, DELTA_ROWS) * heads * batch,)](
        outs,
        grads,
        delta,
        outs.stride(),
        grads.stride(),
        heads,
        length,
        D=width,
        WIDTH=padded,
        ROWS=DELTA_ROWS,
    )
    by_descriptor = use_descriptors(descriptors, queries, keys, values, grads)
    factor = softmax_scale(q, scale)
    constants: dict[str, Any] = {
        "D": width,
        "WIDTH": padded,
        "CAUSAL": causal,
        "DESCRIPTORS": by_descriptor,
        "PRECISION": precision,
    }

    def sources(chosen: Config) -> tuple[object, ...]:
        if not by_descriptor:
            return queries, keys, values, grads
        rows = (
            (queries, chosen.rows),
            (keys, chosen.columns),
            (values, chosen.columns),
            (grads, chosen.rows),
        )
        return tuple(tiles.describe(x, count) for x, count in rows)

    def launch_dkdv(chosen: Config) -> None:
        flash_dkdv_kernel[(triton.cdiv(key_length, chosen.columns) * kv_heads * batch,)](
            *sources(chosen),
            grad_k,
            grad_v,
            lse,
            delta,
            *(x.stride() for x in (queries, keys, values, grads, grad_k, grad_v)),
            factor,
            heads,
            heads // kv_heads,
            length,
            key_length,
            ROWS=chosen.rows,
            COLUMNS=chosen.columns,
            num_warps=chosen.warps,
            num_stages=chosen.stages,
            **constants,
        )

    def launch_dq(chosen: Config) -> None:
        flash_dq_kernel[(triton.cdiv(length, chosen.rows) * heads * batch,)](
            *sources(chosen),
            grad_q,
            lse,
            delta,
            *(x.stride() for x in (queries, keys, values, grads, grad_q)),
            factor,
            heads,
            heads // kv_heads,
            length,
            key_length,
            ROWS=chosen.rows,
            COLUMNS=chosen.columns,
            EVEN=key_length % chosen.columns == 0,
            num_warps=chosen.warps,
            num_stages=chosen.stages,
            **constants,
        )

    key = (tuple(queries.shape), tuple(keys.shape), causal, precision)
    pick(
        "flash_dkdv",
        CONFIGS_DKDV,
        q,
        key,
        launch_dkdv,
        width=width,
        descriptors=by_descriptor,
        config=configs[0],
    )
    pick("flash_dq", CONFIGS_DQ, q, key, launch_dq, width=width, descriptors=by_descriptor, config=configs[1])
    return grad_q.reshape(q.shape), grad_k.reshape(k.shape), grad_v.reshape(v.shape)
