"""The usual names of the parameters of Triton wrappers, and the tensors that go with them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Shape = tuple[int, ...]

# Small enough for the interpreter (a fraction of a second), large enough for several tiles and a causal diagonal.
_HEADS, _TOKENS, _WIDTH = 2, 256, 64
_ROWS, _COLUMNS, _INNER = 128, 256, 128
_VECTOR = 2048 + 100
# Sizes that no tile divides, in the place of those above: a missing mask shows. Widths of heads stay.
_RAGGED = {256: 253, 128: 125}


class TensorOf(NamedTuple):
    """A tensor to make."""

    shape: Shape
    dtype: str = ""
    """"" for the one that the run is about."""


@dataclass(frozen=True)
class Family:
    """One common signature: the leading parameters' names, in any of their usual spellings."""

    name: str
    leading: tuple[frozenset[str], ...]
    tensors: tuple[tuple[TensorOf, ...], ...]
    """Alternatives to try, each with one tensor for each leading parameter."""
    hint: str = ""
    """A regular expression on the function's name that puts this family first."""
    hinted_only: bool = False
    """Not for a function whose name does not hint at it."""


def _names(*spellings: str) -> frozenset[str]:
    return frozenset(spellings)


def _alternatives(*every: Sequence[Shape]) -> tuple[tuple[TensorOf, ...], ...]:
    return tuple(tuple(TensorOf(shape) for shape in shapes) for shapes in every)


_X = _names("x", "inp", "input", "inputs", "a", "logits", "scores", "src", "hidden_states", "tensor", "t")
_Q, _K, _V = _names("q", "query", "queries"), _names("k", "key", "keys"), _names("v", "value", "values")
_W = _names("weight", "w", "gamma", "g", "scale_weight")
_BIAS = _names("bias", "beta", "b")
_Y = _names("y", "other", "b", "residual")

_CACHE = (_HEADS, _TOKENS, _WIDTH)

_FAMILIES = (
    Family(
        "attention of one query",
        (_Q, _K, _V),
        _alternatives(
            ((_HEADS, 1, _WIDTH), _CACHE, _CACHE),
            ((1, _HEADS, 1, _WIDTH), (1, *_CACHE), (1, *_CACHE)),
            ((1, _WIDTH), _CACHE[1:], _CACHE[1:]),
        ),
        hint=r"decod",
        hinted_only=True,
    ),
    Family(
        "attention",
        (_Q, _K, _V),
        _alternatives(
            ((_HEADS, _TOKENS, _WIDTH),) * 3, ((1, _HEADS, _TOKENS, _WIDTH),) * 3, ((_TOKENS, _WIDTH),) * 3
        ),
    ),
    Family(
        "keys or queries", (_Q | _K | _V,), _alternatives(((_HEADS, _TOKENS, _WIDTH),), ((_TOKENS, _WIDTH),))
    ),
    Family(
        "an embedding",
        (
            _names("ids", "indices", "idx", "index", "tokens", "token_ids", "input_ids"),
            _names("table", "emb", "embedding", "embeddings") | _W,
        ),
        ((TensorOf((100,), "int64"), TensorOf((_ROWS, _COLUMNS))),),
    ),
    Family(
        "a norm with weight and bias",
        (_X, _W, _BIAS),
        _alternatives(((_ROWS, _COLUMNS), (_COLUMNS,), (_COLUMNS,))),
    ),
    Family(
        "a linear layer",
        (_X, _W, _BIAS),
        _alternatives(
            ((_ROWS, _INNER), (_COLUMNS, _INNER), (_COLUMNS,)),
            ((_ROWS, _INNER), (_INNER, _COLUMNS), (_COLUMNS,)),
        ),
        hint=r"linear|matmul|gemm|_mm|mlp",
    ),
    Family("a norm with weight", (_X, _W), _alternatives(((_ROWS, _COLUMNS), (_COLUMNS,)))),
    Family(
        "a matmul",
        (_names("a", "lhs", "x"), _names("b", "rhs", "w", "weight", "y")),
        _alternatives(((_ROWS, _INNER), (_INNER, _COLUMNS)), ((_ROWS, _INNER), (_COLUMNS, _INNER))),
        hint=r"matmul|gemm|^mm|_mm|linear|dot|split_k|swiglu|mlp",
    ),
    Family(
        "a matrix and a vector",
        (_X, _names("x", "v", "vec", "vector")),
        _alternatives(((_ROWS, _COLUMNS), (_COLUMNS,))),
    ),
    Family(
        "two of one shape",
        (_X, _Y),
        _alternatives(((_VECTOR,), (_VECTOR,)), ((_ROWS, _COLUMNS),) * 2),
        hint=r"add|sub|mul(?!ti)(?!.*mat)|div|elementwise|product",
    ),
    Family(
        "a function of rows",
        (_X,),
        _alternatives(((_ROWS, _COLUMNS),), ((_VECTOR,),), ((_HEADS, _ROWS, _COLUMNS),)),
    ),
)

_LIKE_THE_FIRST = _names(
    "do", "dout", "dy", "grad", "grad_out", "grad_output", "grad_y", "residual", "y", "other", "o", "out", "output",
    "noise", "v", "value", "values", "k", "key", "keys",
)  # fmt: skip
_OF_ROWS = _names("lse", "l", "delta", "mean", "rstd")
_OF_ANGLES = _names("cos", "sin", "freqs_cos", "freqs_sin")
_CLASSES = _names("target", "targets", "label", "labels")
_MASKS = _names("mask", "keep", "key_mask", "attn_mask")

SCALES = _names("scale", "sm_scale", "softmax_scale", "scaling")
"""Parameters that take 1/sqrt(D)."""
SCALARS = {
    "causal": True, "is_causal": True, "eps": 1e-5, "epsilon": 1e-5, "seed": 0, "p": 0.1, "dropout_p": 0.1,
    "training": True,
}  # fmt: skip
"""Usual values of parameters that must be given."""


def matching(names: Sequence[str], function: str) -> Iterator[tuple[Family, list[str]]]:
    """Families whose leading parameters these are, those that the function's name hints at first, each with the names.

    A family that takes more of the parameters comes before one that takes fewer.
    """
    lowered = [name.lower() for name in names]
    fitting = [
        family
        for family in _FAMILIES
        if len(lowered) >= len(family.leading)
        and all(name in spellings for name, spellings in zip(lowered, family.leading, strict=False))
    ]
    hinted = [family for family in fitting if family.hint and re.search(family.hint, function.lower())]
    others = [family for family in fitting if family not in hinted and not family.hinted_only]
    for family in hinted + others:
        yield family, list(names[: len(family.leading)])


def lone(name: str) -> Iterator[tuple[Family, list[str]]]:
    """The family to try for an only tensor whose name says nothing."""
    yield _FAMILIES[-1], [name]


def related(name: str, first: Shape) -> TensorOf | None:
    """The tensor that usually has this name beside a first one of this shape; None where there is no usual one."""
    name = name.lower()
    if not first:
        return None
    if name in _LIKE_THE_FIRST:
        return TensorOf(first)
    if name in _W | _BIAS:
        return TensorOf(first[-1:])
    if name in _OF_ROWS and len(first) > 1:
        return TensorOf(first[:-1], "fp32")
    if name in _OF_ANGLES and len(first) > 1 and first[-1] > 1:
        return TensorOf((first[-2], first[-1] // 2))
    if name in _CLASSES:
        return TensorOf(first[:1], "int64")
    if name in _MASKS:
        return TensorOf(first, "bool")
    return None


def ragged(tensor: TensorOf) -> TensorOf:
    """The same tensor with sizes that no tile divides."""
    return tensor._replace(shape=tuple(_RAGGED.get(size, size) for size in tensor.shape))
