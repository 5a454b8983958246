"""Trains a row of blocks, each in a student's `FullySharded`, and measures what lives at which moment."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from ..memory import LiveTensors, watched
from ..phases import mark
from .adamw import AdamW
from .living import Settled, alive_bytes
from .networks import Network, boundary, squared_error_mean

Block = tuple[Sequence[Tensor], Sequence[int]]
"""The matrices of a block, and for each layer the index of its matrix."""

_SLACK_BYTES = 1024
"""Counters and the like, for which nobody waits."""


def run(
    student: Callable[..., Any],
    group: Any,
    blocks: Sequence[Block],
    steps: Sequence[tuple[Tensor, Tensor]],
    *,
    between_bytes: int,
    **hyper: Any,
) -> dict[str, Any]:
    """A step of AdamW on the shards for each pair of inputs and targets.

    Args:
        student: the class.
        group: the ranks.
        blocks: of this rank; the values of rank 0 should count.
        steps: (inputs, targets) of this rank.
        between_bytes: what may live between the passes.
        hyper: lr, betas, eps, weight_decay.

    Returns:
        shards: after the construction and after each step, a list with one of each block.
        gradients: of the shards in each step, None where there is none.
        input_gradients: of each step; None in every second one, where the inputs need none.
        evaluated: what the blocks return at the end for the inputs of the first step, under no_grad.
        listed: the number of elements that parameters() of each wrapped block yields.
        built_bytes: what lives after the construction.
        between_bytes: what lives between the forward and the backward pass of the last step, and did not before it.
        forward_bytes, backward_bytes: the most in each pass of the last step, above what lived before it.
        kept_bytes: what lives after the last step, the gradients of the shards and the moments included.

    Phases: "construction"; "forward 0 block 2" and "backward 0 block 2" by step and block; "optimizer 0"; "evaluate".
    """
    shards: list[list[Tensor]] = []
    gradients: list[list[Tensor | None]] = []
    of_inputs: list[Tensor | None] = []
    report: dict[str, Any] = {"shards": shards, "gradients": gradients, "input_gradients": of_inputs}
    with watched(blocks, steps) as live:
        settled = Settled(live)
        mark("construction")
        wrapped = [student(_network(*block), group=group) for block in blocks]
        report["listed"] = [sum(each.numel() for each in block.parameters()) for block in wrapped]
        own_bytes = sum(block.shard.nbytes for block in wrapped)
        report["built_bytes"] = settled.bytes(own_bytes)
        shards.append(_copies(wrapped))
        optimizer = AdamW([block.shard for block in wrapped], **hyper)
        for number, (inputs, targets) in enumerate(steps):
            for block in wrapped:
                block.shard.grad = None
            x = inputs.clone().requires_grad_(number % 2 == 0)
            report |= _both_passes(wrapped, x, targets, number, live, settled, between_bytes)
            mark(f"optimizer {number}")
            optimizer.step()
            ours_bytes = x.nbytes + _bytes((shards, gradients, of_inputs, x.grad))
            report["kept_bytes"] = settled.bytes(ours_bytes + 4 * own_bytes + _SLACK_BYTES) - ours_bytes
            of_inputs.append(x.grad)
            gradients.append(
                [None if each.shard.grad is None else each.shard.grad.clone() for each in wrapped]
            )
            shards.append(_copies(wrapped))
    mark("evaluate")
    with torch.no_grad():
        x = steps[0][0]
        for block in wrapped:
            x = block(x)
    return report | {"evaluated": x}


def _both_passes(
    blocks: Sequence[Any],
    x: Tensor,
    targets: Tensor,
    number: int,
    live: LiveTensors,
    settled: Settled,
    between_bytes: int,
) -> dict[str, int]:
    """Forward and backward; what lived when, above what lived before."""
    before = alive_bytes(live)
    live.peak_bytes = 0
    for index, block in enumerate(blocks):
        mark(f"forward {number} block {index}")
        x = block(x)
        if index + 1 < len(blocks):
            x = boundary(x, partial(mark, f"backward {number} block {index}"))
    loss = squared_error_mean(x, targets)
    live.look()
    forward, between = live.peak_bytes, settled.bytes(before + between_bytes)
    live.peak_bytes = 0
    mark(f"backward {number} block {len(blocks) - 1}")
    loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    live.look()
    backward = live.peak_bytes
    return {
        "forward_bytes": forward - before,
        "between_bytes": between - before,
        "backward_bytes": backward - before,
    }


def _network(weights: Sequence[Tensor], layers: Sequence[int]) -> Network:
    network = Network(weights, layers)
    network.tied = ()  # which would keep alive what a student takes off the layers
    return network


def _copies(blocks: Sequence[Any]) -> list[Tensor]:
    return [block.shard.detach().clone() for block in blocks]


def _bytes(tree: Any) -> int:
    return sum(each.nbytes for each in tree_leaves(tree) if isinstance(each, torch.Tensor))
