"""What a PyTorch operation does with the elements of its arguments, read from its schema and a few lists of names."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import torch

EMPTY = frozenset(
    (
        "empty",
        "empty_like",
        "new_empty",
        "empty_strided",
        "new_empty_strided",
        "empty_permuted",
        "empty_quantized",
    )
)
"""Makes storage and writes none of it."""

_READS_NO_ELEMENT = EMPTY | frozenset(
    (
        *("zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like"),
        *("new_zeros", "new_ones", "new_full", "is_same_size", "_shape_as_tensor", "lift", "lift_fresh"),
        *("resize_", "resize_as_", "_resize_output_", "set_", "_unsafe_view"),
    )
)
_SHAPE_ONLY = frozenset(("resize_", "resize_as_", "_resize_output_", "set_"))

_FILLS = frozenset(
    (
        *("fill_", "zero_", "copy_", "_foreach_zero_", "_foreach_copy_", "normal_", "uniform_", "random_"),
        *("exponential_", "cauchy_", "log_normal_", "geometric_", "bernoulli_"),
    )
)
"""Writes every element of its first argument without a look at it."""

_SCATTERS = frozenset(
    (
        *("index_put_", "_index_put_impl_", "_unsafe_index_put_", "index_fill_", "index_copy_"),
        *("masked_fill_", "masked_scatter_", "scatter_", "fill_diagonal_"),
    )
)
"""Writes some elements of its first argument without a look at the others."""

_IGNORE_FIRST_AT_BETA_ZERO = frozenset(("addmm", "addmv", "addbmm", "baddbmm", "addr"))


class Operation(NamedTuple):
    """One overload: `aten.add.Tensor` has name `aten.add` and base `add`."""

    name: str
    base: str
    arguments: tuple[str, ...]
    written: frozenset[str]
    """Arguments whose elements it writes."""
    resized: frozenset[str]
    """Arguments whose storage it may replace or grow."""
    unread: frozenset[str]
    """Arguments whose elements it never reads."""
    reads: bool
    """Whether it reads the elements of any argument at all."""
    pointwise: bool
    """Each element of the result depends on the same element of the arguments alone."""
    scatters: bool
    """Writes only chosen elements of its first argument."""
    composite: bool
    """Made of other operations, which inference mode hides unless it is taken apart."""
    opaque: bool
    """Whatever it writes, no schema of PyTorch's tells: somebody else's, or one of the old ones."""


@lru_cache(maxsize=4096)
def operation(func: Any) -> Operation:
    """The traits of an overload (or of a higher-order operator, which is opaque: reads all, writes nothing)."""
    if not isinstance(func, torch._ops.OpOverload):
        name = str(func)
        return Operation(
            name, name, (), frozenset(), frozenset(), frozenset(), True, False, False, False, True
        )
    schema = func._schema
    schema_key = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
    name = schema.name.replace("::", ".")
    base = name.partition(".")[2]
    mutated = {a.name: a for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write}
    metadata_only = base in _SHAPE_ONLY or torch.Tag.inplace_view in func.tags
    view = any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
    unread = {name for name, argument in mutated.items() if argument.kwarg_only}
    if base in _FILLS or base in _SCATTERS:
        unread |= {next(iter(mutated))} if mutated else set()
    return Operation(
        name=name,
        base=base,
        arguments=tuple(argument.name for argument in schema.arguments),
        written=frozenset() if metadata_only or base in EMPTY else frozenset(mutated),
        resized=frozenset(mutated),
        unread=frozenset(unread),
        reads=not (view or metadata_only or base in _READS_NO_ELEMENT),
        scatters=base in _SCATTERS,
        pointwise=torch.Tag.pointwise in func.tags,
        composite=torch._C._dispatch_has_kernel_for_dispatch_key(
            schema_key, torch._C.DispatchKey.CompositeImplicitAutograd
        ),
        opaque=not name.startswith(("aten.", "prims.")) or "batch_norm" in base,
    )


def bound(op: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by the schema's names; by their position where there is no schema."""
    if not op.arguments:
        return {**{str(i): value for i, value in enumerate(args)}, **kwargs}
    return {**dict(zip(op.arguments, args, strict=False)), **kwargs}


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of an argument or a result: itself, or those of a list in it."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)


def read_tensors(op: Operation, arguments: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors whose elements the operation reads."""
    if not op.reads:
        return []
    skip = set(op.unread)
    if op.base in _IGNORE_FIRST_AT_BETA_ZERO and arguments.get("beta", 1) == 0:
        skip.add("self")
    if op.base in _SCATTERS and arguments.get("accumulate"):
        skip.discard("self")
    return [t for name, value in arguments.items() if name not in skip for t in tensors(value)]


def written_tensors(op: Operation, arguments: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors in whose memory the operation may write: all, where its schema does not have to say so."""
    names = arguments if op.opaque else op.written | op.resized
    return [t for name in names for t in tensors(arguments.get(name))]


def storage_of(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    """The storage, or None where there is no memory behind: sparse, meta, fake and wrapped tensors."""
    if tensor.layout is not torch.strided:
        return None
    try:
        storage = tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return None
    return None if storage.device.type == "meta" else storage
