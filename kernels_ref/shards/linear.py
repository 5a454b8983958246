"""ColumnParallelLinear and RowParallelLinear: cases of `case`.

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
    padded_bytes,
)

if TYPE_CHECKING:
    from kernels_ref.shards.case import Suspects


def column(
    seed: int,
    ranks: int,
    out_features: int,
    in_features: int,
    leading: Sequence[int],
    *,
    bias: bool = True,
    gather_output: bool = False,
) -> Case:
    """A ColumnParallelLinear; x is (*leading, in)."""
    import torch
    from torch.nn.functional import linear

    x, grad, parameters = linear_tensors(seed, out_features, in_features, leading, bias)
    output, of_x, of_weight, *of_bias = both(linear, x, grad, parameters)
    outputs = [output] * ranks if gather_output else cut_pairs(output, ranks, -1)
    grads = [grad] * ranks if gather_output else cut(grad, ranks, -1)
    weights, biases = (
        cut_pairs(of_weight, ranks, 0),
        [cut_pairs(each, ranks, 0) for each in of_bias],
    )
    rows = cut(parameters[0].double(), ranks, 0)
    wide_bias = parameters[1].double() if bias else torch.zeros(out_features, dtype=torch.float64)
    biases_wide = cut(wide_bias, ranks, 0)
    own_grads = cut(grad.double(), ranks, -1)

    def suspects(rank: int) -> dict[str, Suspects]:
        return {
            "output": {
                "column.input_summed": lambda: (
                    outputs[rank][0]
                    + (ranks - 1) * (outputs[rank][0] - (wide_bias if gather_output else biases_wide[rank]))
                ),
            },
            "gradient of x": {
                "column.gradient_not_reduced": lambda: own_grads[rank] @ rows[rank],
                "column.gradient_averaged": lambda: of_x[0] / ranks,
                "column.gradient_times_ranks": lambda: of_x[0] * ranks,
            },
            "gradient of weight": {
                "column.gather_sums_gradients": lambda: weights[rank][0] * ranks,
            },
        }

    names = ["output", "gradient of x", "gradient of weight", "gradient of bias"][: 3 + bias]
    one_column = x[..., :1]
    gathered = Traffic("all_gather", output[1].nbytes, padded_bytes(one_column, out_features, ranks))
    return Case(
        ranks,
        (parameters[0], parameters[1] if bias else None),
        {"gather_output": gather_output},
        [(x, each) for each in grads],
        [
            named(names, [outputs[rank], of_x, weights[rank], *(each[rank] for each in biases)])
            for rank in range(ranks)
        ],
        [suspects(rank) for rank in range(ranks)],
        forward=(gathered,) if gather_output else (),
        backward=(Traffic("all_reduce", x.nbytes, x.nbytes),),
        whole={"weight": tuple(parameters[0].shape), "bias": (out_features,)},
        shapes=[
            {"weight": tuple(weights[rank][0].shape)}
            | ({"bias": tuple(biases[0][rank][0].shape)} if bias else {})
            for rank in range(ranks)
        ],
    )


def row(
    seed: int,
    ranks: int,
    out_features: int,
    in_features: int,
    leading: Sequence[int],
    *,
    bias: bool = True,
    input_is_parallel: bool = True,
) -> Case:
    """A RowParallelLinear; the whole x is (*leading, in)."""
    import torch
    from torch.nn.functional import linear

    x, grad, parameters = linear_tensors(seed, out_features, in_features, leading, bias)
    output, of_x, of_weight, *of_bias = both(linear, x, grad, parameters)
    xs = cut(x, ranks, -1) if input_is_parallel else [x] * ranks
    of_xs = cut_pairs(of_x, ranks, -1) if input_is_parallel else [of_x] * ranks
    weights = cut_pairs(of_weight, ranks, 1)
    columns = cut(parameters[0].double(), ranks, 1)
    wide_bias = parameters[1].double() if bias else torch.zeros(out_features, dtype=torch.float64)
    own_xs = cut(x.double(), ranks, -1)

    def suspects(rank: int) -> dict[str, Suspects]:
        return {
            "output": {
                "row.bias_times_ranks": lambda: output[0] + (ranks - 1) * wide_bias,
                "row.bias_forgotten": lambda: output[0] - wide_bias,
                "row.not_reduced": lambda: own_xs[rank] @ columns[rank].mT + wide_bias,
                "row.averaged": lambda: (output[0] - wide_bias) / ranks + wide_bias,
                "row.all_averaged": lambda: output[0] / ranks,
            },
            "gradient of x": {"row.gradient_times_ranks": lambda: of_xs[rank][0] * ranks},
            "gradient of weight": {"row.gradient_times_ranks": lambda: weights[rank][0] * ranks},
            "gradient of bias": {
                "row.bias_gradient_zero": lambda: torch.zeros_like(of_bias[0][0]),
                "row.bias_gradient_times_ranks": lambda: of_bias[0][0] * ranks,
                "row.bias_gradient_averaged": lambda: of_bias[0][0] / ranks,
            },
        }

    names = ["output", "gradient of x", "gradient of weight", "gradient of bias"][: 3 + bias]
    one_column = x[..., :1]
    gathered = Traffic("all_gather", x.nbytes, padded_bytes(one_column, in_features, ranks))
    return Case(
        ranks,
        (parameters[0], parameters[1] if bias else None),
        {"input_is_parallel": input_is_parallel},
        [(each, grad) for each in xs],
        [named(names, [output, of_xs[rank], weights[rank], *of_bias]) for rank in range(ranks)],
        [suspects(rank) for rank in range(ranks)],
        forward=(Traffic("all_reduce", grad.nbytes, grad.nbytes),),
        backward=() if input_is_parallel else (gathered,),
        whole={"weight": tuple(parameters[0].shape), "bias": (out_features,)},
        shapes=[
            {"weight": tuple(weights[rank][0].shape)} | ({"bias": (out_features,)} if bias else {})
            for rank in range(ranks)
        ],
    )
