"""Runs a student's `checkpoint` on a small MLP: what comes out, how often the MLP ran, which bytes live on.

The judge asks for the forward pass, then for the backward pass with a new value of a number that the MLP reads.
Gradients that are right for the new number exist only where the MLP ran again: the judge sees that in values
which it computes itself. Bytes and counts were measured beside the student's code: a check may rest on them only
where the values of the same inputs are right.
"""

import gc
import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

# torch imports this one at the first backward, where it would take 0.4 s of a call's time.
import torch.fx.experimental.symbolic_shapes
from torch import Tensor

_LIBRARY = "torch.utils.checkpoint"

# What autograd says of a Function whose backward is wrong, and the name of the problem. An exception that is
# not listed here is the student's to read as it is.
_BACKWARD_PROBLEMS = (
    ("incorrect number of gradients", "gradient_count"),
    ("gradient different from None", "gradient_count"),
    ("returned an invalid gradient", "gradient_order"),
    ("does not require grad and does not have a grad_fn", "no_graph_in_backward"),
)


@dataclass(frozen=True)
class _Forward:
    """A forward pass whose backward pass has not been asked for yet."""

    inputs: Sequence[Tensor]
    output: Tensor
    mlp: "_CountedMlp"


_waiting: list[_Forward] = []
"""The last forward pass, or nothing."""


def run(function: Callable[..., Any], step: str, **given: Any) -> dict[str, Any]:
    """One step: "forward", then "backward", of one pass; or "memory", a forward pass of its own.

    Args:
        function: the student's `checkpoint(function, *inputs)`.
        step: which of the functions below answers.
        given: its arguments.
    """
    if step == "backward":
        return _backward(**given)
    _waiting.clear()
    return (_forward if step == "forward" else _memory)(function, **given)


def _forward(
    function: Callable[..., Any],
    inputs: Sequence[Tensor],
    scale: float,
    blocks: int = 1,
    grad: bool = True,
) -> dict[str, Any]:
    """Checkpoint a chain of `blocks` MLPs, and keep the output for "backward".

    Args:
        function: the student's `checkpoint`.
        inputs: x of shape (n, width), then the weights, equally many for each block. A weight of shape
            (in, out) makes x = gelu(scale * (x @ weight)); one of integers of shape (m,) makes x = x[weight].
        scale: the number that the MLP reads whenever it runs, until "backward" brings another.
        blocks: how many MLPs, each behind a checkpoint of its own.
        grad: False runs it all under no_grad.

    Returns:
        output: the last output, None where there is a problem with it.
        needs_grad: whether the output does.
        forwards: how often an MLP ran.
        one_node: whether each checkpoint is one node of the graph.
        problem: "" or "no_tensor" (it returned something else).
    """
    mlp = _CountedMlp(scale)
    with torch.set_grad_enabled(grad):
        output = _chain(function, mlp, inputs, blocks)
    is_tensor = isinstance(output, torch.Tensor)
    if is_tensor:
        _waiting.append(_Forward(inputs, output, mlp))
    return {
        "output": output.detach() if is_tensor else None,
        "needs_grad": is_tensor and output.requires_grad,
        "forwards": mlp.calls,
        "one_node": is_tensor and _graph_nodes(output) == blocks,
        "problem": "" if is_tensor else "no_tensor",
    }


def _backward(grad_output: Tensor, scale: float) -> dict[str, Any]:
    """Go backward through the chain of the last "forward", whose MLPs read `scale` from now on.

    Args:
        grad_output: gradient of the last output, of its shape.
        scale: the new number; it was not in this process while the forward pass ran.

    Returns:
        gradients: of each input; None where there is none.
        recomputations: how often an MLP ran.
        library: whether torch.utils.checkpoint was at work, in either pass.
        problem: "" or "gradient_count" (or a gradient where None belongs), "gradient_order" (a gradient of
            another input's shape), "no_graph_in_backward".

    Raises:
        LookupError: no forward pass came before.
    """
    if not _waiting:
        raise LookupError("no forward pass waits for this backward pass")
    forward = _waiting.pop()
    mlp, forwards, problem = forward.mlp, forward.mlp.calls, ""
    mlp.scale = scale
    if forward.output.requires_grad and forward.output.shape == grad_output.shape:
        try:
            torch.autograd.backward(forward.output, grad_output)
        except RuntimeError as error:
            problem = next((name for text, name in _BACKWARD_PROBLEMS if text in str(error)), "")
            if not problem:
                raise
    return {
        "gradients": [each.grad for each in forward.inputs],
        "recomputations": mlp.calls - forwards,
        "library": mlp.library,
        "problem": problem,
    }


def _memory(
    function: Callable[..., Any], inputs: Sequence[Tensor], blocks: int = 1, grad: bool = True
) -> dict[str, Any]:
    """Measure what a forward pass keeps, in one of its own: under the hooks a saved leaf is not itself.

    Args are those of "forward".

    Returns:
        saved_bytes: storages that are kept for backward, each counted once, inputs included, but for the
            output's.
    """
    kept = _KeptTensors()
    gc.freeze()  # what exists now is nobody's doing: the search for new tensors passes over it
    try:
        with (
            torch.set_grad_enabled(grad),
            torch.autograd.graph.saved_tensors_hooks(kept.pack, kept.unpack),
        ):
            output = _chain(function, _CountedMlp(1.0), inputs, blocks)
        return {"saved_bytes": kept.bytes_beside(output)}
    finally:
        gc.unfreeze()


def _chain(function: Callable[..., Any], mlp: "_CountedMlp", inputs: Sequence[Tensor], blocks: int) -> Any:
    """The output of `blocks` checkpoints in a row, or the first that is no tensor."""
    share = (len(inputs) - 1) // blocks
    output: Any = inputs[0]
    for start in range(1, 1 + blocks * share, share):
        output = function(mlp, output, *inputs[start : start + share])
        if not isinstance(output, torch.Tensor):
            break
    return output


class _CountedMlp:
    """The function to checkpoint; reads its scale whenever it runs, and knows how often it ran."""

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self.calls = 0
        self.library = False

    def __call__(self, x: Tensor, *weights: Tensor) -> Tensor:
        self.calls += 1
        self.library |= _called_from(_LIBRARY)
        for weight in weights:
            # Inside of gelu: from the old gradients no factor leads to the new ones.
            x = (
                torch.nn.functional.gelu(self.scale * (x @ weight))
                if weight.is_floating_point()
                else x[weight]
            )
        return x


class _Packed:
    """What autograd holds in place of a tensor that it saves; it dies with the graph."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


class _KeptTensors:
    """Finds the tensors that a forward pass keeps: saved by autograd, or new in Python and still alive."""

    def __init__(self) -> None:
        self._packed: weakref.WeakSet[_Packed] = weakref.WeakSet()

    def pack(self, tensor: Tensor) -> _Packed:
        packed = _Packed(tensor.detach())  # detached, for an output would hold the graph that holds it
        self._packed.add(packed)
        return packed

    def unpack(self, packed: _Packed) -> Tensor:
        return packed.tensor

    def bytes_beside(self, output: Tensor) -> int:
        """Bytes of all storages kept, but for the output's, which its caller keeps in any case.

        To be called after `gc.freeze` and the forward pass: only what is new is looked at.
        """
        gc.collect()
        new = [each for each in gc.get_objects() if issubclass(type(each), torch.Tensor)]
        saved = _storages([*new, *(packed.tensor for packed in self._packed)])
        return sum(saved.values()) - sum(saved.get(address, 0) for address in _storages([output]))


def _storages(tensors: Iterable[Tensor]) -> dict[int, int]:
    """Bytes of each storage by its address."""
    storages = (tensor.untyped_storage() for tensor in tensors)
    return {storage.data_ptr(): storage.nbytes() for storage in storages}


def _graph_nodes(output: Tensor) -> int:
    """Nodes between an output and the inputs; the ends that collect an input's gradient do not count."""
    seen: set[Any] = set()
    to_see = [output.grad_fn] if output.grad_fn is not None else []
    while to_see:
        node = to_see.pop()
        if node in seen or node.name() == "torch::autograd::AccumulateGrad":
            continue
        seen.add(node)
        to_see += [before for before, _ in node.next_functions if before is not None]
    return len(seen)


def _called_from(module: str) -> bool:
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == module:
            return True
        frame = frame.f_back  # type: ignore[assignment]  # None ends the loop
    return False
