"""The sequence-parallel layers: cases of `case`.

torch is imported by the first call, so that tests can import this module where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kernels_ref.shards.case import (
    Case,
    Traffic,
    both,
    cut,
    cut_pairs,
    linear_tensors,
    named,
)

if TYPE_CHECKING:
    from torch import Tensor

    from kernels_ref.shards.case import Suspects


def sequence_column(
    seed: int,
    ranks: int,
    out_features: int,
    in_features: int,
    leading: Sequence[int],
    *,
    bias: bool = True,
) -> Case:
    """A SequenceColumnParallelLinear; the last of `leading` is the number of tokens, which `ranks` divides."""
    from torch.nn.functional import linear

    x, grad, parameters = linear_tensors(seed, out_features, in_features, leading, bias)
    output, of_x, of_weight, *of_bias = both(linear, x, grad, parameters)
    outputs, of_xs, weights = (
        cut_pairs(output, ranks, -1),
        cut_pairs(of_x, ranks, -2),
        cut_pairs(of_weight, ranks, 0),
    )
    biases = [cut_pairs(each, ranks, 0) for each in of_bias]
    rows, own_grads = cut(parameters[0].double(), ranks, 0), cut(grad.double(), ranks, -1)

    def suspects(rank: int) -> dict[str, Suspects]:
        return {
            "output": {
                "sequence.tokens_interleaved": lambda: _interleaved(outputs[rank][0], ranks),
            },
            "gradient of x": {
                "sequence.gradient_not_reduced": lambda: cut(own_grads[rank] @ rows[rank], ranks, -2)[rank],
                "sequence.gradient_averaged": lambda: of_xs[rank][0] / ranks,
            },
        }

    names = ["output", "gradient of x", "gradient of weight", "gradient of bias"][: 3 + bias]
    return Case(
        ranks,
        (parameters[0], parameters[1] if bias else None),
        {},
        list(zip(cut(x, ranks, -2), cut(grad, ranks, -1), strict=True)),
        [
            named(names, [outputs[rank], of_xs[rank], weights[rank], *(each[rank] for each in biases)])
            for rank in range(ranks)
        ],
        [suspects(rank) for rank in range(ranks)],
        forward=(Traffic("all_gather", x.nbytes, x.nbytes),),
        backward=(Traffic("reduce_scatter", x.nbytes, x.nbytes),),
        accepted=(Traffic("all_gather", x.nbytes, x.nbytes),),
        whole={"weight": tuple(parameters[0].shape), "bias": (out_features,)},
        shapes=[
            {"weight": tuple(weights[rank][0].shape)}
            | ({"bias": tuple(biases[0][rank][0].shape)} if bias else {})
            for rank in range(ranks)
        ],
    )


def sequence_row(
    seed: int,
    ranks: int,
    out_features: int,
    in_features: int,
    leading: Sequence[int],
    *,
    bias: bool = True,
) -> Case:
    """A SequenceRowParallelLinear; the last of `leading` is the number of tokens, which `ranks` divides."""
    import torch
    from torch.nn.functional import linear

    x, grad, parameters = linear_tensors(seed, out_features, in_features, leading, bias)
    output, of_x, of_weight, *_ = both(linear, x, grad, parameters)
    outputs, of_xs, weights = (
        cut_pairs(output, ranks, -2),
        cut_pairs(of_x, ranks, -1),
        cut_pairs(of_weight, ranks, 1),
    )
    grads = cut(grad, ranks, -2)
    biases = [(each.double().flatten(0, -2).sum(0), each.flatten(0, -2).sum(0)) for each in grads]
    xs, columns = cut(x.double(), ranks, -1), cut(parameters[0].double(), ranks, 1)
    wide_bias = parameters[1].double() if bias else torch.zeros(out_features, dtype=torch.float64)

    def suspects(rank: int) -> dict[str, Suspects]:
        return {
            "output": {
                "sequence.not_reduced": lambda: cut(xs[rank] @ columns[rank].mT, ranks, -2)[rank] + wide_bias,
                "sequence.bias_times_ranks": lambda: outputs[rank][0] + (ranks - 1) * wide_bias,
                "sequence.averaged": lambda: (outputs[rank][0] - wide_bias) / ranks + wide_bias,
            },
            "gradient of x": {
                "sequence.gradient_of_own_tokens_only": lambda: _of_own_tokens(of_xs[rank][0], ranks, rank),
                "sequence.gradient_times_ranks": lambda: of_xs[rank][0] * ranks,
            },
        }

    names = ["output", "gradient of x", "gradient of weight", "gradient of bias"][: 3 + bias]
    return Case(
        ranks,
        (parameters[0], parameters[1] if bias else None),
        {},
        list(zip(cut(x, ranks, -1), grads, strict=True)),
        [
            named(names, [outputs[rank], of_xs[rank], weights[rank], biases[rank]][: 3 + bias])
            for rank in range(ranks)
        ],
        [suspects(rank) for rank in range(ranks)],
        forward=(Traffic("reduce_scatter", grad.nbytes, grad.nbytes),),
        backward=(Traffic("all_gather", grad.nbytes, grad.nbytes),),
        whole={"weight": tuple(parameters[0].shape), "bias": (out_features,)},
        shapes=[
            {"weight": tuple(weights[rank][0].shape)} | ({"bias": (out_features,)} if bias else {})
            for rank in range(ranks)
        ],
    )


def _of_own_tokens(gradient: Tensor, ranks: int, rank: int) -> Tensor:
    """The gradient with nothing for the tokens of other ranks."""
    kept = gradient.new_zeros(gradient.shape)
    length = gradient.shape[-2] // ranks
    own = slice(rank * length, (rank + 1) * length)
    kept[..., own, :] = gradient[..., own, :]
    return kept


def _interleaved(output: Tensor, ranks: int) -> Tensor:
    """Tokens in the order in which the first of every rank come first, then the second of every rank."""
    return (
        output.reshape(*output.shape[:-2], ranks, -1, output.shape[-1])
        .transpose(-3, -2)
        .reshape(output.shape)
    )
