"""Runs a student's PyTorch function and says which tensors it made on the way: the largest, and all at once.

Blocks that are streamed lie in one buffer, which each next block overwrites: values alone then show who looked at
the whole row. What is said about tensors was measured beside the student's code, so a check may rest on it only
where the values of the same inputs are right.
"""

import math
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def run(function: Callable[..., Any], step: str, **given: Any) -> dict[str, Any]:
    """One step: "call" the function, "stream" blocks into it, or "autograd", both passes of a Function's `apply`.

    Args:
        function: the student's.
        step: which of the functions below answers.
        given: its arguments.

    Returns:
        What the step returns, and
        largest_bytes, largest_shape: of the largest storage that an operation made, inputs left out.
        peak_bytes: of all such storages that were alive at once, at the least.
        library, softmax: whether torch's own attention, or its softmax or logsumexp, was at work.
    """
    seen = _Temporaries([each for each in tree_leaves(given) if isinstance(each, torch.Tensor)])
    steps: dict[str, Callable[..., dict[str, Any]]] = {
        "call": _call,
        "stream": _stream,
        "autograd": _autograd,
    }
    report = steps[step](function, seen, **given)
    return report | {
        "largest_bytes": seen.largest_bytes,
        "largest_shape": seen.largest_shape,
        "peak_bytes": seen.peak_bytes,
        "library": seen.library,
        "softmax": seen.softmax,
    }


def _call(
    function: Callable[..., Any], seen: "_Temporaries", args: Sequence[Any], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """value: what the function returns."""
    with seen:
        return {"value": function(*args, **kwargs)}


def _stream(function: Callable[..., Any], seen: "_Temporaries", blocks: Sequence[Tensor]) -> dict[str, Any]:
    """value: what the function returns for an iterator over blocks of shape (rows, width) in one buffer.

    asked: how many blocks were asked for.
    """
    widest = max(blocks, key=lambda block: block.shape[1])
    buffer = torch.full_like(widest, math.nan)
    seen.know(buffer)
    asked = 0

    def one_by_one() -> Iterator[Tensor]:
        nonlocal asked
        for block in blocks:
            asked += 1
            tile = buffer[:, : block.shape[1]]
            tile.copy_(block)
            yield tile
            buffer.fill_(math.nan)

    with seen:
        value = function(one_by_one())
    return {"value": value, "asked": asked}


def _autograd(
    function: Any, seen: "_Temporaries", inputs: Sequence[Tensor], causal: bool, grad_out: Tensor
) -> dict[str, Any]:
    """Both passes of `function.apply(*inputs, causal)`.

    out, needs_grad: the output, and whether it needs a gradient.
    gradients: of each input; None where there is none.
    kept_bytes: what was saved for the backward pass, beside inputs and output.
    problem: "" or "gradient_count", where backward returned too many values or too few.
    """
    leaves = [each.detach().requires_grad_() for each in inputs]
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        kept[_address(tensor)] = tensor.untyped_storage().nbytes()
        return tensor.detach()

    with seen, torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out = function.apply(*leaves, causal)
        ready = isinstance(out, torch.Tensor) and out.requires_grad and out.shape == grad_out.shape
        problem = _go_back(out, grad_out) if ready else ""
    free = [*leaves, out] if isinstance(out, torch.Tensor) else leaves
    return {
        "out": out.detach() if isinstance(out, torch.Tensor) else None,
        "needs_grad": isinstance(out, torch.Tensor) and out.requires_grad,
        "problem": problem,
        "gradients": [leaf.grad for leaf in leaves],
        "kept_bytes": sum(kept.values()) - sum(kept.get(_address(each), 0) for each in free),
    }


def _go_back(out: Tensor, grad_out: Tensor) -> str:
    """Go backward; the name of the problem where a Function returned the wrong number of gradients."""
    try:
        torch.autograd.backward(out, grad_out)
    except RuntimeError as error:
        # torch's own words for it; any other exception is the student's to read as it is.
        known = ("incorrect number of gradients", "gradient different from None")
        if not any(words in str(error) for words in known):
            raise
        return "gradient_count"
    return ""


class _Temporaries(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it without types
    """Watches every operation: what storages its results have."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.largest_bytes = 0
        self.largest_shape: list[int] = []
        self.peak_bytes = 0
        self.library = self.softmax = False
        self._known = {_address(each) for each in inputs}
        self._alive: dict[int, tuple[weakref.ref[Tensor], int]] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # torch would wrap every operation to keep its compiler away, and import that compiler for it: 1 s of a call.
        return False

    def know(self, tensor: Tensor) -> None:
        """Leave this tensor's storage out."""
        self._known.add(_address(tensor))

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.name()
        self.library |= "attention" in name
        self.softmax |= "softmax" in name or "sumexp" in name
        for made in tree_leaves(result):
            if isinstance(made, torch.Tensor):
                self._see(made)
        return result

    def _see(self, made: Tensor) -> None:
        address, size = _address(made), made.untyped_storage().nbytes()
        if address in self._known:
            return
        if size > self.largest_bytes:
            self.largest_bytes, self.largest_shape = size, list(made.shape)
        self._alive[address] = (weakref.ref(made), size)
        self._alive = {where: each for where, each in self._alive.items() if each[0]() is not None}
        self.peak_bytes = max(self.peak_bytes, sum(each[1] for each in self._alive.values()))


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
