"""Whom the bench times: PyTorch's attention by backend, flash-attn, a solution, and kernels_ref."""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention

from kernels_ref.attention import flash_attention
from kernels_ref.naive import softmax_scale, visible

Attention = Callable[[Tensor, Tensor, Tensor, bool], Tensor]
"""(q, k, v, causal) to out, with gradients; q is (B, H, T_q, D)."""


PACKAGE = "_bench_solution"


class Absent(Exception):
    """A contender cannot be had here; the text is one line and says why."""


def contenders(solutions: Path | None) -> Iterator[tuple[str, Attention | Absent]]:
    """Name and function of every contender, or why it is missing, in the order of the table's columns."""
    yield "naive", naive
    yield "sdpa math", lambda *inputs: _sdpa(SDPBackend.MATH, *inputs)
    yield "sdpa flash", lambda *inputs: _sdpa(SDPBackend.FLASH_ATTENTION, *inputs)
    yield "sdpa cudnn", lambda *inputs: _sdpa(SDPBackend.CUDNN_ATTENTION, *inputs)
    for name, package in (("flash-attn", "flash_attn"), ("flash-attn 3", "flash_attn_interface")):
        yield name, _flash_attn(package)
    yield "solution", _solution(solutions)
    yield "kernels_ref", flash_attention


def naive(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """What one writes first, in the inputs' dtype: the score matrix goes to memory and back."""
    scores = q @ k.mT * softmax_scale(q, None)
    if causal:
        scores = scores.masked_fill(~visible(q.shape[-2], k.shape[-2], q.device), float("-inf"))
    return scores.softmax(-1) @ v


def _sdpa(backend: SDPBackend, q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    # `is_causal` aligns the mask top-left; with T_q ≠ T_k ours is bottom-right, which is a mask of its own.
    square = q.shape[-2] == k.shape[-2]
    mask = None if square or not causal else causal_lower_right(q.shape[-2], k.shape[-2])
    with sdpa_kernel(backend):
        out: Tensor = scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal and square)
    return out


def _flash_attn(package: str) -> Attention | Absent:
    if importlib.util.find_spec(package) is None:
        return Absent(f"{package} is not installed")
    function = importlib.import_module(package).flash_attn_func

    def call(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        found = function(*(each.transpose(1, 2) for each in (q, k, v)), causal=causal)
        out: Tensor = found[0] if isinstance(found, tuple) else found
        return out.transpose(1, 2)

    return call


def _solution(folder: Path | None) -> Attention | Absent:
    """`forward.py`'s flash_forward, and `backward.py`'s FlashAttention where a gradient is asked for."""
    if folder is None:
        return Absent("no --solutions DIR was given")
    try:
        forward = _module(folder, "forward").flash_forward
        function = _module(folder, "backward").FlashAttention
    except (ImportError, AttributeError) as wrong:
        return Absent(f"{folder}: {wrong}")
    # Its name is the solution's business: `causal`, or `is_causal` as in CS336.
    mask = next((name for name in inspect.signature(forward).parameters if "causal" in name), None)
    if mask is None:
        return Absent(f"{folder / 'forward.py'}: flash_forward has no parameter for a causal mask")

    def call(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        if q.requires_grad:
            with_gradient: Tensor = function.apply(q, k, v, causal)
            return with_gradient
        found = forward(q, k, v, **{mask: causal})
        out: Tensor = found[0] if isinstance(found, tuple) else found
        return out

    return call


def _module(folder: Path, name: str) -> Any:
    """A Python file of the folder, as a module of a private package: it shadows nothing and may import its siblings."""
    package = ModuleType(PACKAGE)
    package.__path__ = [str(folder)]
    sys.modules.setdefault(PACKAGE, package)
    return importlib.import_module(f"{PACKAGE}.{name}")
