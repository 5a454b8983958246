"""Holds the FLOPs of `layer_costs` against PyTorch's own counter on a real transformer, forward and backward.

Agreement: exact, to the FLOP, op by op, with two conventions of the counter allowed for:
- it counts matmuls and fused attention alone, so everything of kind "memory" and the softmax are 0 there;
- it counts fused attention as if every query saw every key. `layer_costs` counts the causal pairs, which are
  (sequence + 1) / (2·sequence) of them.

The counter has formulas for the fused kernels of CUDA, and none for that of a CPU, which runs here: it gets
the same formulas (`sdpa_flop_count`, `sdpa_backward_flop_count`). They count five matmuls backward, as flash
runs them.
Without fusion attention has four matmuls backward, because it kept the scores: tested too.
"""

from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

from grader.checks.mistakes import load_solution
from specs import GroupedAttention, Mlp, Model, element_flops

SOLUTIONS = Path(__file__).parents[2] / "solutions"
layer_costs = load_solution(SOLUTIONS, "roofline", "layers.py").layer_costs

Shape = tuple[int, ...]

# The counter sees no FLOPs in a softmax.
MATMULS_ALONE = element_flops().model_copy(update={"softmax": 0})


def forward_kernel(q: Shape, k: Shape, v: Shape, *_: object, **__: object) -> int:
    """FLOPs of the fused kernel, by PyTorch's formula for its CUDA twin."""
    return sdpa_flop_count(q, k, v)


def backward_kernel(grad: Shape, q: Shape, k: Shape, v: Shape, *_: object, **__: object) -> int:
    """FLOPs of the fused kernel's backward, by PyTorch's formula for its CUDA twin."""
    return sdpa_backward_flop_count(grad, q, k, v)


CPU_KERNELS = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: forward_kernel,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: backward_kernel,
}


def a_model(heads: int, kv_heads: int, head_dim: int, gated: bool) -> Model:
    """A dense model so small that a CPU runs it in milliseconds."""
    return Model(
        name="tiny",
        hidden=48,
        layers=3,
        vocab=97,
        tied_embeddings=False,
        norm="rmsnorm",
        attention=GroupedAttention(heads=heads, kv_heads=kv_heads, head_dim=head_dim),
        mlp=Mlp(intermediate=80, gated=gated),
    )


MODELS = {
    "multi-head, no gate": a_model(heads=4, kv_heads=4, head_dim=12, gated=False),
    "grouped, gated, heads wider than the stream": a_model(heads=6, kv_heads=2, head_dim=16, gated=True),
    "one key-value head": a_model(heads=4, kv_heads=1, head_dim=16, gated=True),
}


class Layer(nn.Module):
    """Attention and MLP with the projections that `model` has; rotary positions cost the counter nothing."""

    def __init__(self, model: Model, fused: bool) -> None:
        super().__init__()
        attention = model.attention
        self.heads, self.kv_heads, self.head_dim = attention.heads, attention.kv_heads, attention.head_dim
        self.fused = fused
        q, kv = self.heads * self.head_dim, self.kv_heads * self.head_dim
        self.norm1, self.norm2 = nn.RMSNorm(model.hidden), nn.RMSNorm(model.hidden)
        self.qkv = nn.Linear(model.hidden, q + 2 * kv, bias=False)
        self.attention_output = nn.Linear(q, model.hidden, bias=False)
        self.mlp_up = nn.Linear(model.hidden, model.mlp.intermediate, bias=False)
        self.mlp_gate = (
            nn.Linear(model.hidden, model.mlp.intermediate, bias=False) if model.mlp.gated else None
        )
        self.mlp_down = nn.Linear(model.mlp.intermediate, model.hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, sequence, _ = x.shape
        parts = [self.heads, self.kv_heads, self.kv_heads]
        qkv = self.qkv(self.norm1(x)).view(batch, sequence, -1, self.head_dim).transpose(1, 2)
        q, k, v = qkv.split(parts, dim=1)
        k, v = (each.repeat_interleave(self.heads // self.kv_heads, dim=1) for each in (k, v))
        out = self.attend(q, k, v).transpose(1, 2).reshape(batch, sequence, -1)
        x = x + self.attention_output(out)
        y = self.norm2(x)
        inner = functional.gelu(self.mlp_up(y)) if self.mlp_gate is None else self.gated(y)
        return x + self.mlp_down(inner)

    def gated(self, y: Tensor) -> Tensor:
        return functional.silu(self.mlp_gate(y)) * self.mlp_up(y)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if self.fused:
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        scores = q @ k.transpose(-1, -2) / self.head_dim**0.5
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v


class Transformer(nn.Module):
    """Embedding, layers, final norm, head."""

    def __init__(self, model: Model, fused: bool = True) -> None:
        super().__init__()
        self.embedding = nn.Embedding(model.vocab, model.hidden)
        self.layers = nn.ModuleList(Layer(model, fused) for _ in range(model.layers))
        self.norm = nn.RMSNorm(model.hidden)
        self.head = nn.Linear(model.hidden, model.vocab, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def counted(model: Model, batch: int, sequence: int, fused: bool) -> dict[str, int]:
    """FLOPs of a forward and of a backward pass, by PyTorch's counter."""
    torch.manual_seed(0)
    network = Transformer(model, fused)
    tokens = torch.randint(model.vocab, (batch, sequence + 1))
    flops = {}
    with FlopCounterMode(display=False, custom_mapping=CPU_KERNELS) as counter:
        logits = network(tokens[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    flops["forward"] = counter.get_total_flops()
    with FlopCounterMode(display=False, custom_mapping=CPU_KERNELS) as counter:
        loss.backward()
    flops["backward"] = counter.get_total_flops()
    return flops


def ours(model: Model, batch: int, sequence: int, phase: str) -> Counter[str]:
    """FLOPs of `layer_costs` by kind; attention as if every query saw every key."""
    flops: Counter[str] = Counter()
    for op in layer_costs(model, batch, sequence, phase, "fp32", MATMULS_ALONE):
        flops[op.kind] += op.count * op.cost.flops
    flops["attention"] = flops["attention"] * 2 * sequence / (sequence + 1)
    return flops


@pytest.mark.parametrize("phase", ["forward", "backward"])
@pytest.mark.parametrize("name", MODELS)
def test_agrees_with_the_counter_to_the_flop(name: str, phase: str) -> None:
    batch, sequence = 3, 24
    flops = ours(MODELS[name], batch, sequence, phase)
    assert flops["matmul"] + flops["attention"] == counted(MODELS[name], batch, sequence, True)[phase]


def test_attention_alone_is_five_matmuls_backward_when_fused_and_four_when_not() -> None:
    model, batch, sequence = MODELS["grouped, gated, heads wider than the stream"], 2, 40
    backward = ours(model, batch, sequence, "backward")
    for fused, matmuls in ((True, 5), (False, 4)):
        attention = counted(model, batch, sequence, fused)["backward"] - backward["matmul"]
        assert attention == backward["attention"] * matmuls / 5


def test_the_kernel_that_runs_here_is_the_fused_one() -> None:
    # Otherwise the mapping above is never used, and the first test proves less than it says.
    model = MODELS["one key-value head"]
    with FlopCounterMode(display=False, custom_mapping=CPU_KERNELS) as counter:
        Transformer(model)(torch.zeros(1, 8, dtype=torch.long))
    kernels = {str(kernel) for kernel in counter.get_flop_counts()["Global"]}
    assert any("flash_attention_for_cpu" in kernel for kernel in kernels)


def test_matmul_weights_are_those_of_the_module() -> None:
    model = MODELS["grouped, gated, heads wider than the stream"]
    weights = sum(each.weight.numel() for each in Transformer(model).modules() if isinstance(each, nn.Linear))
    assert ours(model, 2, 10, "forward")["matmul"] == 2 * weights * 20
    assert ours(model, 2, 10, "backward")["matmul"] == 4 * weights * 20
