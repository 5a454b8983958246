"""Holds the FLOPs of the roofline's costs against PyTorch's own counter, forward and backward.

Agreement: exact. PyTorch counts matmuls and nothing else, so the costs are asked with a softmax that costs no
FLOPs. Three things to know about its counter:
- it counts every pair of a query and a key under a causal mask too, as naive attention computes them;
- it counts attention by query heads: keys that heads share do not spare FLOPs;
- it knows the fused attention of CUDA and not that of a CPU, for which it counts nothing at all. So on a CPU
  attention is run unfused, and the fused one is counted on tensors without data.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from grader.checks.mistakes import load_solution
from specs import element_flops

costs = load_solution(Path(__file__).parents[2] / "solutions", "roofline", "costs.py")
NO_SOFTMAX = element_flops().model_copy(update={"softmax": 0})


def counted(run: Callable[[], Tensor]) -> tuple[int, int]:
    """FLOPs that PyTorch counts in `run`, which returns a result, and in the backward pass from it."""
    with FlopCounterMode(display=False) as forward:
        result = run()
    with FlopCounterMode(display=False) as backward:
        result.sum().backward()
    return forward.get_total_flops(), backward.get_total_flops()


def matmul_flops(m: int, n: int, k: int, batch: int = 1) -> float:
    """FLOPs of the reference."""
    flops: float = costs.matmul_cost(m, n, k, "fp32", batch).flops
    return flops


def attention_flops(shape: dict[str, int], algorithm: str, causal: bool = False) -> float:
    """FLOPs of the reference's attention, softmax aside."""
    flops: float = costs.attention_cost(
        **shape, dtype="fp32", algorithm=algorithm, table=NO_SOFTMAX, causal=causal
    ).flops
    return flops


def heads(count: str, tokens: str, shape: dict[str, int], device: str) -> Tensor:
    """A tensor (batch, heads, tokens, head_dim) that wants a gradient."""
    size = (shape["batch"], shape[count], shape[tokens], shape["head_dim"])
    return torch.randn(size, device=device, requires_grad=True)


SHAPES = (
    {"batch": 2, "heads": 4, "kv_heads": 4, "queries": 16, "keys": 24, "head_dim": 8},
    {"batch": 3, "heads": 6, "kv_heads": 2, "queries": 10, "keys": 10, "head_dim": 16},
    {"batch": 5, "heads": 4, "kv_heads": 1, "queries": 1, "keys": 33, "head_dim": 8},
)


@pytest.mark.parametrize(("tokens", "width_in", "width_out"), [(32, 48, 80), (1, 64, 16), (7, 1, 9)])
def test_a_linear_layer_is_one_matmul_forward_and_two_backward(
    tokens: int, width_in: int, width_out: int
) -> None:
    layer = nn.Linear(width_in, width_out)
    x = torch.randn(tokens, width_in, requires_grad=True)
    forward, backward = counted(lambda: layer(x))
    assert forward == matmul_flops(tokens, width_out, width_in)
    for_x = matmul_flops(tokens, width_in, width_out)
    for_weights = matmul_flops(width_out, width_in, tokens)
    assert backward == for_x + for_weights == 2 * forward


def test_a_batch_of_matmuls_counts_each() -> None:
    a, b = torch.randn(6, 10, 12, requires_grad=True), torch.randn(6, 12, 14, requires_grad=True)
    forward, backward = counted(lambda: torch.bmm(a, b))
    assert forward == matmul_flops(10, 14, 12, batch=6)
    assert backward == matmul_flops(10, 12, 14, batch=6) + matmul_flops(12, 14, 10, batch=6)


def test_an_mlp_is_its_matmuls() -> None:
    mlp = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32))
    x = torch.randn(2, 9, 32, requires_grad=True)
    forward, backward = counted(lambda: mlp(x))
    assert forward == matmul_flops(2 * 9, 128, 32) + matmul_flops(2 * 9, 32, 128)
    assert backward == 2 * forward


def test_an_embedding_counts_nothing() -> None:
    table = nn.Embedding(50, 16)
    assert counted(lambda: table(torch.randint(50, (3, 8)))) == (0, 0)
    assert costs.embedding_cost(3 * 8, 16, "fp32").flops == 0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("causal", [False, True])
def test_unfused_attention_is_two_matmuls_forward_and_four_backward(
    shape: dict[str, int], causal: bool
) -> None:
    q = heads("heads", "queries", shape, "cpu")
    k, v = (heads("kv_heads", "keys", shape, "cpu") for _ in range(2))
    with sdpa_kernel(SDPBackend.MATH):
        forward, backward = counted(
            lambda: functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)
        )
    assert forward == attention_flops(shape, "naive", causal)
    assert backward == 2 * forward


@pytest.mark.parametrize("shape", SHAPES)
def test_written_out_attention_is_two_matmuls_forward_and_four_backward(shape: dict[str, int]) -> None:
    q = heads("heads", "queries", shape, "cpu")
    k, v = (heads("kv_heads", "keys", shape, "cpu") for _ in range(2))

    def run() -> Tensor:
        shared = shape["heads"] // shape["kv_heads"]
        keys, values = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
        scores = q @ keys.transpose(-2, -1) * shape["head_dim"] ** -0.5
        return scores.softmax(dim=-1) @ values

    forward, backward = counted(run)
    assert forward == attention_flops(shape, "naive") == attention_flops(shape, "flash")
    assert backward == 2 * forward


@pytest.mark.parametrize("causal", [False, True])
def test_flash_attention_is_two_matmuls_forward_and_five_backward(causal: bool) -> None:
    shape = SHAPES[0]
    q = heads("heads", "queries", shape, "meta")
    k, v = (heads("kv_heads", "keys", shape, "meta") for _ in range(2))
    forward, backward = counted(
        lambda: torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)[0]
    )
    assert forward == attention_flops(shape, "flash")
    assert backward == 2.5 * forward


def test_causal_flash_counts_the_pairs_that_a_mask_leaves() -> None:
    queries, keys = 10, 17
    seen = int(torch.ones(queries, keys).tril(diagonal=keys - queries).sum())
    shape = {"batch": 3, "heads": 4, "kv_heads": 2, "queries": queries, "keys": keys, "head_dim": 8}
    assert attention_flops(shape, "flash", causal=True) == 3 * 4 * seen * 4 * 8


@pytest.mark.parametrize("shape", [SHAPES[2]])
def test_a_decode_step_is_attention_of_one_query(shape: dict[str, int]) -> None:
    q = heads("heads", "queries", shape, "cpu")
    k, v = (heads("kv_heads", "keys", shape, "cpu") for _ in range(2))
    with sdpa_kernel(SDPBackend.MATH):
        forward, _ = counted(lambda: functional.scaled_dot_product_attention(q, k, v, enable_gqa=True))
    context = shape["keys"]
    sizes = {name: size for name, size in shape.items() if name not in ("queries", "keys")}
    assert forward == costs.decode_cost(**sizes, context=context, dtype="fp32", table=NO_SOFTMAX).flops
