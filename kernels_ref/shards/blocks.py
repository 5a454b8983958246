"""ParallelMLP and ParallelAttention: cases of `case`.

torch is imported by the first call, so that tests can import this module where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kernels_ref.shards.case import (
    Case,
    Traffic,
    both,
    computed,
    cut,
    cut_pairs,
    generator,
    linear_tensors,
    named,
)

if TYPE_CHECKING:
    from torch import Tensor

    from kernels_ref.shards.case import Suspects


def mlp(seed: int, ranks: int, hidden: int, inner: int, leading: Sequence[int], *, bias: bool = True) -> Case:
    """A ParallelMLP with the exact GeLU; x is (*leading, hidden)."""
    import torch
    from torch.nn.functional import gelu, linear

    x, _, up = linear_tensors(seed, inner, hidden, leading, bias)
    _, grad, down = linear_tensors(seed + 1, hidden, inner, leading, bias)
    x = 2 * x
    names = ["up.weight", *(["up.bias"] if bias else []), "down.weight", *(["down.bias"] if bias else [])]

    def whole(x: Tensor, *parameters: Tensor, approximate: str = "none") -> Tensor:
        half = len(parameters) // 2
        return linear(gelu(linear(x, *parameters[:half]), approximate=approximate), *parameters[half:])

    parameters = [*up, *down]
    output, of_x, *of_parameters = both(whole, x, grad, parameters)
    dims = {"up.weight": 0, "up.bias": 0, "down.weight": 1}
    parts = {
        name: cut_pairs(pair, ranks, dims[name]) if name in dims else [pair] * ranks
        for name, pair in zip(names, of_parameters, strict=True)
    }
    wide = [each.double() for each in parameters]
    wide_x, wide_grad = x.double(), grad.double()
    bias_up = wide[1] if bias else torch.zeros(inner, dtype=torch.float64)
    bias_down = wide[-1] if bias else torch.zeros(hidden, dtype=torch.float64)
    up_wide, down_wide = wide[0], wide[1 + bias]

    def partial_sums(share: float) -> Tensor:
        xs, columns = cut(wide_x, ranks, -1), cut(up_wide, ranks, 1)
        inside = [gelu(linear(a, b, share * bias_up)) for a, b in zip(xs, columns, strict=True)]
        return linear(torch.stack(inside).sum(0), down_wide, bias_down)

    def own_gradient(rank: int) -> Tensor:
        first, first_bias = cut(up_wide, ranks, 0)[rank], cut(bias_up, ranks, 0)[rank]
        second = cut(down_wide, ranks, 1)[rank]

        def own(x: Tensor) -> Tensor:
            return linear(gelu(linear(x, first, first_bias)), second)

        return computed(own, wide_x, wide_grad, ())[1]

    def suspects(rank: int) -> dict[str, Suspects]:
        return {
            "output": {
                "mlp.bias_times_ranks": lambda: output[0] + (ranks - 1) * bias_down,
                "mlp.gelu_by_tanh": lambda: whole(wide_x, *wide, approximate="tanh"),
                "mlp.gelu_of_partial_sums": lambda: partial_sums(1.0),
                "mlp.gelu_of_partial_sums_with_shared_bias": lambda: partial_sums(1 / ranks),
                "mlp.no_gelu": lambda: linear(linear(wide_x, up_wide, bias_up), down_wide, bias_down),
            },
            "gradient of x": {
                "mlp.gradient_not_reduced": lambda: own_gradient(rank),
                "mlp.gradient_times_ranks": lambda: of_x[0] * ranks,
            },
        }

    return Case(
        ranks,
        (up[0], up[1] if bias else None, down[0], down[1] if bias else None),
        {},
        [(x, grad)] * ranks,
        [
            named(
                ["output", "gradient of x", *(f"gradient of {name}" for name in names)],
                [output, of_x, *(parts[name][rank] for name in names)],
            )
            for rank in range(ranks)
        ],
        [suspects(rank) for rank in range(ranks)],
        forward=(Traffic("all_reduce", grad.nbytes, grad.nbytes),),
        backward=(Traffic("all_reduce", x.nbytes, x.nbytes),),
        whole={name: tuple(each.shape) for name, each in zip(names, parameters, strict=True)},
        shapes=[{name: tuple(parts[name][rank][0].shape) for name in names} for rank in range(ranks)],
    )


def attention(seed: int, ranks: int, hidden: int, heads: int, head_dim: int, batch: int, tokens: int) -> Case:
    """A ParallelAttention, causal; x is (batch, tokens, hidden)."""
    import torch
    from torch.nn.functional import linear

    drawn = generator(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=drawn)

    x, grad = normal(batch, tokens, hidden), normal(batch, tokens, hidden)
    width = heads * head_dim
    # Queries scaled up: a softmax that is nearly flat hides which head, and which scale, it was.
    query, key, value = (scale * normal(width, hidden) / hidden**0.5 for scale in (3.0, 1.0, 1.0))
    output_projection = normal(hidden, width) / width**0.5
    parameters = [query, key, value, output_projection]

    def whole(
        x: Tensor,
        *parameters: Tensor,
        causal: bool = True,
        interleaved: bool = False,
        scale: float = head_dim**-0.5,
    ) -> Tensor:
        q, k, v = (linear(x, each) for each in parameters[:3])
        if interleaved:
            q, k, v = (each.reshape(*each.shape[:2], head_dim, -1).permute(0, 3, 1, 2) for each in (q, k, v))
        else:
            q, k, v = (each.reshape(*each.shape[:2], -1, head_dim).transpose(1, 2) for each in (q, k, v))
        scores = q @ k.mT * scale
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        weights = (scores.masked_fill(later, -torch.inf) if causal else scores).softmax(-1)
        mixed = (weights @ v).permute((0, 2, 3, 1) if interleaved else (0, 2, 1, 3))
        return linear(mixed.flatten(2), parameters[3])

    output, of_x, *of_parameters = both(whole, x, grad, parameters)
    names = ["query", "key", "value", "output"]
    held = [heads // ranks + (rank < heads % ranks) for rank in range(ranks)]

    def own(tensor: Tensor, rank: int, dim: int) -> Tensor:
        starts = [sum(held[:before]) * head_dim for before in range(ranks + 1)]
        return tensor.narrow(dim, starts[rank], held[rank] * head_dim).contiguous()

    def own_pairs(rank: int) -> list[tuple[Tensor, Tensor]]:
        return [
            (own(wide, rank, dim), own(low, rank, dim))
            for (wide, low), dim in zip(of_parameters, (0, 0, 0, 1), strict=True)
        ]

    wide_x, wide_grad = x.double(), grad.double()
    wide = [each.double() for each in parameters]

    def of_rank(rank: int, **changed: Any) -> list[Tensor]:
        cut = [own(each, rank, dim) for each, dim in zip(wide, (0, 0, 0, 1), strict=True)]
        return computed(lambda *given: whole(*given, **changed), wide_x, wide_grad, cut)

    def together(**changed: Any) -> Tensor:
        return torch.stack([of_rank(rank, **changed)[0] for rank in range(ranks)]).sum(0)

    q, k = (linear(wide_x, each).reshape(batch, tokens, heads, head_dim).transpose(1, 2) for each in wide[:2])
    largest = float((q @ k.mT).abs().max()) / head_dim**0.5

    def suspects(rank: int) -> dict[str, Suspects]:
        return {
            "output": {
                "attention.heads_interleaved": lambda: together(interleaved=True),
                "attention.not_causal": lambda: whole(wide_x, *wide, causal=False),
                "attention.scaled_by_width": lambda: whole(wide_x, *wide, scale=width**-0.5),
                "attention.not_scaled": lambda: whole(wide_x, *wide, scale=1.0),
                "attention.not_reduced": lambda: of_rank(rank)[0],
            },
            "gradient of x": {
                "attention.gradient_not_reduced": lambda: of_rank(rank)[1],
                "attention.gradient_times_ranks": lambda: of_x[0] * ranks,
            },
        }

    return Case(
        ranks,
        (*parameters, heads),
        {},
        [(x, grad)] * ranks,
        [
            named(
                ["output", "gradient of x", *(f"gradient of {name}" for name in names)],
                [output, of_x, *own_pairs(rank)],
            )
            for rank in range(ranks)
        ],
        [suspects(rank) for rank in range(ranks)],
        forward=(Traffic("all_reduce", grad.nbytes, grad.nbytes),),
        backward=(Traffic("all_reduce", x.nbytes, x.nbytes),),
        exponent=largest,
        whole={name: tuple(each.shape) for name, each in zip(names, parameters, strict=True)},
        shapes=[
            {name: tuple(pair[0].shape) for name, pair in zip(names, own_pairs(rank), strict=True)}
            for rank in range(ranks)
        ],
    )
