"""The child of these tests: runs kernels in the mended interpreter and answers with errors and findings, as JSON.

Reads one request a line, {"case": name, ...arguments}, and writes one answer a line. It is a process of its own
because TRITON_INTERPRET must be set before triton is imported, and pytest's process is not to be interpreted.
"""

import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.kernels import interpreter
from grader.kernels.recorder import call_recorded
from kernels_ref.attention import (
    flash_attention,
    flash_attention_backward,
    flash_attention_forward,
    flash_decode,
)
from kernels_ref.inputs import peaked
from kernels_ref.matmul import matmul
from kernels_ref.naive import (
    attention,
    attention_backward,
    low_precision_attention,
    low_precision_attention_backward,
)
from kernels_ref.norm import layer_norm, rms_norm
from kernels_ref.softmax import softmax
from kernels_ref.tuning import Config

BLOCK_ROWS = 16
Answer = dict[str, Any]


def run(function: Callable[..., Any], *args: Any, sanitize: bool = True, **kwargs: Any) -> tuple[Any, Answer]:
    """The value of a recorded call, and its findings and traffic as an answer."""
    recorded = call_recorded(function, args, kwargs, sanitize=sanitize)
    if recorded.error is not None:
        raise recorded.error
    launches = [
        {
            "kernel": launch.kernel,
            "unique_bytes": sum(
                each.unique_read_bytes + each.unique_written_bytes for each in launch.tensors
            ),
            "dot_flops": sum(launch.dot_flops.values()),
        }
        for launch in recorded.evidence.launches
    ]
    findings = [finding.message for finding in recorded.evidence.findings]
    return recorded.value, {"findings": findings, "launches": launches}


def excess(found: Tensor, low: Tensor, exact: Tensor) -> float:
    """Error of `found` over what is allowed: twice the low-precision error and four units in the last place.

    Relative L2 of the whole and of each block of rows, the worst of all; above 1 is wrong, and so is NaN.
    """
    worst = 0.0
    rows = exact.shape[-2]
    for start in (None, *range(0, rows, BLOCK_ROWS)):
        part = slice(None) if start is None else slice(start, start + BLOCK_ROWS)
        right = exact[..., part, :]
        allowed = 2 * (low[..., part, :] - right).norm() + 4 * torch.finfo(found.dtype).eps * right.norm()
        wrong = (found[..., part, :] - right).norm()
        if not torch.isfinite(wrong):
            return float("inf")
        worst = max(worst, float(wrong / allowed.clamp_min(torch.finfo(found.dtype).tiny)))
    return worst


def qkv(
    queries: int, keys: int, width: int, heads: int, kv_heads: int, dtype: str, layout: str = "contiguous"
) -> tuple[Tensor, Tensor, Tensor]:
    """Peaked inputs (1, H, T, D); layout "interleaved": q, k, v are views of one (T, H + 2 H_kv, D) tensor."""
    q, k, v = peaked(7, queries, keys, width, leading=(1, heads), kv_leading=(1, kv_heads), dtype=dtype)
    if layout == "contiguous":
        return q, k, v
    if layout == "transposed":  # D is not the dimension of unit stride
        return tuple(each.mT.contiguous().mT for each in (q, k, v))  # type: ignore[return-value]
    packed = torch.cat((q, k, v), 1).transpose(1, 2).contiguous().transpose(1, 2)
    return packed[:, :heads], packed[:, heads : heads + kv_heads], packed[:, heads + kv_heads :]


def forward(
    *,
    causal: bool,
    descriptors: bool,
    rows: int = 32,
    columns: int = 32,
    scale: float | None = None,
    **shape: Any,
) -> Answer:
    """flash_attention_forward against fp64."""
    q, k, v = qkv(**shape)
    (out, lse), answer = run(
        flash_attention_forward, q, k, v, causal=causal, scale=scale, descriptors=descriptors,
        config=Config(rows=rows, columns=columns, warps=4, stages=2),
    )  # fmt: skip
    exact, exact_lse = attention(q.double(), k.double(), v.double(), causal=causal, scale=scale)
    low, _ = low_precision_attention(q, k, v, causal=causal, scale=scale)
    finite = exact_lse.isfinite()
    return answer | {
        "excess": excess(out, low, exact),
        "lse_error": float((lse - exact_lse)[finite].abs().max()) if finite.any() else 0.0,
        "lse_infinite": torch.equal(exact_lse.isneginf(), lse.isneginf()),
        "empty_rows": int((~finite).sum()),
        "dtypes": [str(out.dtype), str(lse.dtype)],
    }


def backward(*, causal: bool, descriptors: bool, rows: int = 32, columns: int = 32, **shape: Any) -> Answer:
    """flash_attention_backward against fp64, from the forward's own out and lse."""
    q, k, v = qkv(**shape)
    config = Config(rows=rows, columns=columns, warps=4, stages=2)
    out, lse = flash_attention_forward(q, k, v, causal=causal, descriptors=descriptors, config=config)
    grad = torch.randn(q.shape, generator=torch.Generator().manual_seed(3)).to(q.dtype)
    found, answer = run(
        flash_attention_backward, q, k, v, out, lse, grad, causal=causal, descriptors=descriptors,
        configs=(config, config),
    )  # fmt: skip
    exact = attention_backward(q.double(), k.double(), v.double(), grad.double(), causal=causal)
    low = low_precision_attention_backward(q, k, v, grad, causal=causal)
    names = ("dq", "dk", "dv")
    return answer | {
        "excess": {name: excess(*each) for name, *each in zip(names, found, low, exact, strict=True)}
    }


def gradients(**shape: Any) -> Answer:
    """The public function's autograd against fp64, with tiles of its own choosing."""
    q, k, v = (each.requires_grad_() for each in qkv(**shape))
    out = flash_attention(q, k, v, True)
    grad = torch.ones_like(out)
    found = torch.autograd.grad(out, (q, k, v), grad)
    exact = attention_backward(q.double(), k.double(), v.double(), grad.double(), causal=True)
    low = low_precision_attention_backward(q, k, v, grad, causal=True)
    return {"excess": [excess(*each) for each in zip(found, low, exact, strict=True)]}


def decode(*, causal: bool, descriptors: bool, splits: int | None, **shape: Any) -> Answer:
    """flash_decode against fp64."""
    q, k, v = qkv(**shape)
    (out, lse), answer = run(
        flash_decode, q, k, v, causal=causal, splits=splits, descriptors=descriptors,
        config=Config(rows=0, columns=32, warps=4, stages=2),
    )  # fmt: skip
    exact, exact_lse = attention(q.double(), k.double(), v.double(), causal=causal)
    low, _ = low_precision_attention(q, k, v, causal=causal)
    finite = exact_lse.isfinite()
    return answer | {
        "excess": excess(out, low, exact),
        "lse_error": float((lse - exact_lse)[finite].abs().max()),
        "lse_infinite": torch.equal(exact_lse.isneginf(), lse.isneginf()),
    }


def softmaxes(*, width: int, block: int | None, dtype: str, transposed: bool = False) -> Answer:
    """softmax of rows with a rising maximum, one of them all −inf."""
    x = torch.randn(3, width, generator=torch.Generator().manual_seed(1)) * 3 + torch.linspace(0, 40, width)
    x[1] = -torch.inf
    x = x.to(getattr(torch, dtype))
    x = x.T.contiguous().T if transposed else x
    out, answer = run(softmax, x, block=block)
    exact = x.double().softmax(-1)
    exact[1] = 0
    return answer | {
        "excess": excess(out, exact.to(x.dtype), exact),
        "row_of_nothing": float(out[1].abs().max()),
    }


def norms(*, kind: str, width: int, dtype: str) -> Answer:
    """A norm and its gradients, x of large mean and not contiguous."""
    generator = torch.Generator().manual_seed(2)
    dtype_ = getattr(torch, dtype)
    x = (torch.randn(5, 3, width, generator=generator) + 3).to(dtype_).transpose(0, 1)
    weight = (1 + torch.randn(width, generator=generator)).to(dtype_)
    bias = torch.randn(width, generator=generator).to(dtype_)
    grad = torch.randn(x.shape, generator=generator).to(dtype_)

    def ours(*given: Tensor) -> tuple[Tensor, ...]:
        leaves = [each.detach().requires_grad_() for each in given]
        out = rms_norm(*leaves[:2]) if kind == "rms" else layer_norm(*leaves)
        return out.detach(), *torch.autograd.grad(out, leaves, grad)

    def theirs(*given: Tensor) -> tuple[Tensor, ...]:
        leaves = [each.detach().requires_grad_() for each in given]
        functional = torch.nn.functional
        if kind == "rms":
            out = functional.rms_norm(leaves[0], (width,), leaves[1], 1e-6)
        else:
            out = functional.layer_norm(leaves[0], (width,), *leaves[1:])
        return out.detach(), *torch.autograd.grad(out, leaves, grad.to(given[0].dtype))

    given = (x, weight) if kind == "rms" else (x, weight, bias)
    found, answer = run(ours, *given)
    exact = theirs(*(each.double() for each in given))
    low = [each.to(dtype_) for each in theirs(*(each.float() for each in given))]
    rows = [[each.reshape(-1, width) for each in three] for three in zip(found, low, exact, strict=True)]
    return answer | {"excess": [excess(*three) for three in rows]}


def products(*, m: int, n: int, k: int, dtype: str, descriptors: bool, transposed: bool = False) -> Answer:
    """matmul against fp64."""
    generator = torch.Generator().manual_seed(4)
    a = torch.randn(m, k, generator=generator).to(getattr(torch, dtype))
    b = torch.randn(k, n, generator=generator).to(getattr(torch, dtype))
    b = b.T.contiguous().T if transposed else b
    config = Config(rows=32, columns=32, depth=32, warps=4, stages=2)
    out, answer = run(matmul, a, b, descriptors=descriptors, config=config)
    return answer | {"excess": excess(out, (a.float() @ b.float()).to(a.dtype), a.double() @ b.double())}


CASES = {
    "forward": forward,
    "backward": backward,
    "gradients": gradients,
    "decode": decode,
    "softmax": softmaxes,
    "norm": norms,
    "matmul": products,
}


def main() -> None:
    """Answer until the requests end."""
    torch.set_num_threads(1)
    interpreter.install()
    answers = sys.stdout
    sys.stdout = sys.stderr  # what triton or numpy print must not come between the answers
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = CASES[request.pop("case")](**request)
        except Exception:  # whatever went wrong is the test's to show
            answer = {"raised": traceback.format_exc()}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
