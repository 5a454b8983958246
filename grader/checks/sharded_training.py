"""Checks of training whose state is cut over ranks: ZeRO-1 and ZeRO-3.

What a rank holds and which collectives it started was seen beside the student's code: it is looked at only after
the values of the same call have been found right.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from grader.checks.averaged import DEADLINE_S, OTHERWISE
from grader.checks.expect import Expect
from grader.checks.rank_reports import reports, rows, same
from grader.ranks.wire_formulas import sent_bytes
from kernels_ref.shards import training

if TYPE_CHECKING:
    from torch import Tensor

    from kernels_ref.shards.training import Block

SLACK_BYTES = 1024
"""For counters and other small tensors of an optimizer or a block. What is to be cut has many times that."""

HYPER = {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.2}
"""Steps large enough that a wrong decay, or a missing correction, is far from rounding. An eps of 1e-8 would make a
step of full size of a gradient that is nothing but rounding."""


# ---- ShardedOptimizer


def optimizer_steps(
    submission: Any,
    expect: Expect,
    case: str,
    ranks: int,
    values: Sequence[Any],
    by_step: Sequence[Sequence[Any]],
    *,
    order: Sequence[int] | None = None,
    hyper: Mapping[str, Any] = HYPER,
) -> None:
    """ShardedOptimizer does AdamW's steps on every rank, and each rank keeps the moments of its part.

    Args:
        values: of the parameters at the beginning.
        by_step: gradients; None where a parameter has none.
        order: indices of the parameters as the optimizer gets them.
    """
    import torch

    seen = submission.sharding.ShardedOptimizer.on_ranks(
        [(values, by_step, order)] * ranks,
        scenario="sharded_optimizer",
        deadline_s=DEADLINE_S,
        enough_bytes=_moments_bytes(values, ranks) + SLACK_BYTES,
        **hyper,
    )
    full = [
        [torch.zeros_like(each) if given is None else given for each, given in zip(values, row, strict=True)]
        for row in by_step
    ]
    right = training.adamw(values, full, torch.float64, hyper)
    trusted = training.adamw(values, full, torch.float32, hyper)
    wrong = {fault: training.adamw(values, full, torch.float64, hyper, fault) for fault in _FAULTS}
    told = reports(expect, seen, ranks, {"parameters": list, "state_bytes": int, "cleared": bool})
    for rank, value in enumerate(told):
        here = f"{case}, rank {rank}"
        for step, given in enumerate(rows(expect, value["parameters"], len(by_step))):
            row = rows(expect, given, len(values))
            shared = _partly_updated(values, right[0], ranks, rank) if step == 0 and ranks > 1 else {}
            for index, got in enumerate(row):
                suspects = {fault: (lambda each=each[step][index]: each) for fault, each in wrong.items()} | {
                    name: (lambda each=each[index]: each) for name, each in shared.items()
                }
                expect.close(
                    got,
                    right[step][index],
                    trusted[step][index],
                    case=f"{here}, step {step}",
                    name=f"parameter {index}",
                    suspects=suspects,
                )
                expect.that(
                    same(got, told[0]["parameters"][step][index]),
                    f"{here}: after a step the ranks hold different parameters",
                    symptom="ranks_differ",
                )
        expect.that(value["cleared"], f"{here}: zero_grad leaves gradients", symptom=OTHERWISE)
    _moments_kept(expect, case, [value["state_bytes"] for value in told], ranks, values, order)
    most_bytes = 4 * ranks * training.shard_elements(sum(each.numel() for each in values), ranks)
    for step in range(len(by_step)):
        calls = [call for own in seen.collectives for call in own if call.phase == f"step {step}"]
        wire_bytes = sum((sent_bytes(call) for call in calls), Fraction(0))
        expect.measured("bytes on the wire of a step, all ranks", float(wire_bytes), "B")
        expect.that(
            wire_bytes <= (ranks - 1) * (most_bytes + SLACK_BYTES),
            f"{case}: a step puts more on the wire than an all-gather of the parameters"
            + ("" if expect.hidden else f": {float(wire_bytes):,.0f} B of {(ranks - 1) * most_bytes:,}"),
            symptom="more_than_an_all_gather",
        )


_FAULTS = ("l2_decay", "no_decay", "no_bias_correction", "eps_inside", "sgd")


def _partly_updated(
    before: Sequence[Any], after: Sequence[Any], ranks: int, rank: int
) -> dict[str, list[Any]]:
    """What a rank holds after the first step where updates do not reach all elements; fp64."""
    import torch

    old = torch.cat([each.double().flatten() for each in before])
    new = torch.cat([each.flatten() for each in after])
    size = training.shard_elements(old.numel(), ranks)
    own, floor = old.clone(), old.clone()
    own[rank * size : (rank + 1) * size] = new[rank * size : (rank + 1) * size]
    kept = old.numel() // ranks * ranks
    floor[:kept] = new[:kept]
    found = {"not_shared": own}
    if kept < old.numel():
        found["remainder_dropped"] = floor
    sizes = [each.numel() for each in before]
    return {
        name: [part.view(each.shape) for part, each in zip(torch.split(flat, sizes), before, strict=True)]
        for name, flat in found.items()
    }


def _moments_bytes(values: Sequence[Any], ranks: int) -> int:
    """Two moments in fp32 of the largest part."""
    return 8 * training.shard_elements(sum(each.numel() for each in values), ranks)


def _moments_kept(
    expect: Expect,
    case: str,
    kept: Sequence[int],
    ranks: int,
    values: Sequence[Any],
    order: Sequence[int] | None,
) -> None:
    elements = sum(each.numel() for each in values)
    needed = _moments_bytes(values, ranks)
    everything = 8 * elements
    tied = order is not None and len(set(order)) < len(order)
    for rank, found in enumerate(kept):
        expect.measured(f"state of rank {rank} between steps", found, "B")
        if min(kept) >= everything and ranks > 1:
            symptom = "whole_state_on_every_rank"
        elif min(kept) < needed - SLACK_BYTES:
            symptom = "uneven_state"
        else:
            symptom = "tied_state_twice" if tied else "state_too_large"
        expect.that(
            found <= needed + SLACK_BYTES,
            f"{case}, rank {rank}: between steps more lives than the two moments of its part"
            + ("" if expect.hidden else f": {found:,} B, and 8·⌈{elements} / {ranks}⌉ are {needed:,}"),
            symptom=symptom,
        )


# ---- FullySharded

GATHERED_BLOCKS = {"forward": 4.5, "between": 0.5, "backward": 6.5}
"""Times a block's parameters that may live beside the shards and their gradients. The reference has 1.1, 0.1 and 2.8,
and up to 2 more while gloo's two threads hold a collective that is over. Blocks that stay whole are 8 of 8."""


_OF_BLOCKS = dict.fromkeys(("shards", "gradients", "input_gradients", "listed"), list) | dict.fromkeys(
    ("built_bytes", "kept_bytes", "forward_bytes", "between_bytes", "backward_bytes"), int
)


def sharded_blocks(
    submission: Any,
    expect: Expect,
    case: str,
    blocks: Sequence[Sequence["Block"]],
    steps: Sequence[Sequence[tuple[Any, Any]]],
    *,
    memory: bool = False,
    hyper: Mapping[str, Any] = HYPER,
) -> None:
    """FullySharded blocks are trained as one process trains the whole model, with its collectives and no more.

    Args:
        blocks: of each rank, (matrices, index of the matrix of each layer); rank 0's count.
        steps: of each rank, inputs and targets of each step, equally many examples on all ranks.
        memory: whether to look at the bytes that live, which takes blocks much larger than a batch.
    """
    ranks = len(blocks)
    elements = [sum(each.numel() for each in weights) for weights, _ in blocks[0]]
    seen = submission.sharding.FullySharded.on_ranks(
        list(zip(blocks, steps, strict=True)),
        scenario="fsdp",
        deadline_s=DEADLINE_S,
        between_bytes=int(4 * max(elements) * GATHERED_BLOCKS["between"]) if memory else 1 << 40,
        **hyper,
    )
    told = reports(expect, seen, ranks, _OF_BLOCKS)
    _trained(expect, case, told, blocks, steps, hyper)
    _gathers(expect, case, seen, blocks[0], ranks, len(steps[0]))
    own = sum(training.shard_elements(each, ranks) for each in elements)
    for rank, value in enumerate(told):
        here = f"{case}, rank {rank}"
        expect.that(
            value["listed"] == [training.shard_elements(each, ranks) for each in elements],
            f"{here}: parameters() of a block yields more or less than its shard",
            symptom="block_kept",
        )
        for what, factor, symptom in (("built_bytes", 4, "block_kept"), ("kept_bytes", 16, "never_freed")):
            found = value[what]
            expect.measured(f"{what} of rank {rank}", found, "B")
            when = "after the construction" if factor == 4 else "after a step"
            expect.that(
                found <= factor * own + SLACK_BYTES * len(elements),
                f"{here}: {when} more lives than {factor} bytes for each element of the shards"
                + ("" if expect.hidden else f": {found:,} B, and {factor}·{own} are {factor * own:,}"),
                symptom=symptom if ranks > 1 else OTHERWISE,
            )
        if memory:
            _lives(expect, here, value, 4 * max(elements), 4 * own)


def _trained(
    expect: Expect,
    case: str,
    told: Sequence[dict[str, Any]],
    blocks: Sequence[Sequence["Block"]],
    steps: Sequence[Sequence[tuple[Any, Any]]],
    hyper: Mapping[str, Any],
) -> None:
    import torch

    ranks = len(blocks)
    right = training.whole_run(blocks[0], steps, torch.float64, hyper)
    trusted = training.whole_run(blocks[0], steps, torch.float32, hyper)
    alone = [training.whole_run(blocks[0], [own], torch.float64, hyper) for own in steps] if ranks > 1 else []
    count, number = len(blocks[0]), len(steps[0])
    by_rank = [
        [rows(expect, row, count) for row in rows(expect, each["shards"], number + 1)] for each in told
    ]
    for rank, shards in enumerate(
        by_rank
    ):  # of all ranks first: from other values come other gradients everywhere
        for block, got in enumerate(shards[0]):
            own, wanted, known = (
                training.shards(each, ranks)[rank]
                for each in (blocks[rank][block][0], right.values[0][block], trusted.values[0][block])
            )
            suspects = {"not_broadcast": lambda own=own: own.double()} if rank else {}
            name = f"the shard of block {block}"
            _close(expect, f"{case}, rank {rank}, at the beginning", name, got, wanted, known, suspects)
    for rank, value in enumerate(told):
        gradients = [rows(expect, row, count) for row in rows(expect, value["gradients"], number)]
        of_inputs = rows(expect, value["input_gradients"], number)
        for step in range(number):
            for block, got in enumerate(gradients[step]):
                mean = training.shards(right.gradients[step][block], ranks)[rank]
                suspects = {"sum_for_mean": lambda mean=mean: ranks * mean} if ranks > 1 else {}
                if block + 1 < count:  # a block behind this one may have sent nothing back
                    suspects["gradient_ends"] = lambda mean=mean: 0 * mean
                if alone and step == 0:
                    own = training.shards(alone[rank].gradients[0][block], ranks)[rank]
                    suspects |= {"own_gradient": lambda own=own: own, "own_part": lambda own=own: own / ranks}
                expect.that(
                    got is not None,
                    f"{case}, rank {rank}, step {step}: the shard of block {block} has no gradient",
                    symptom="gradient_ends" if block + 1 < count else "",
                )
                known = training.shards(trusted.gradients[step][block], ranks)[rank]
                name = f"the gradient of the shard of block {block}"
                _close(expect, f"{case}, rank {rank}, step {step}", name, got, mean, known, suspects)
            for block, got in enumerate(by_rank[rank][step + 1]):
                wanted, known = (
                    training.shards(each.values[step + 1][block], ranks)[rank] for each in (right, trusted)
                )
                name = f"the shard of block {block}"
                _close(expect, f"{case}, rank {rank}, after step {step}", name, got, wanted, known, {})
            if step % 2 == 0:  # in every second step the inputs need no gradient
                expect.close(
                    of_inputs[step],
                    right.input_gradients[step][rank],
                    trusted.input_gradients[step][rank],
                    case=f"{case}, rank {rank}, step {step}",
                    name="the gradient of the input",
                )
        expect.close(
            value.get("evaluated"),
            right.evaluated[rank],
            trusted.evaluated[rank],
            case=f"{case}, rank {rank}, under no_grad",
            name="the output",
        )


def _close(
    expect: Expect,
    here: str,
    name: str,
    got: Any,
    wanted: "Tensor",
    known: "Tensor",
    suspects: Mapping[str, Callable[[], Any]],
) -> None:
    """A shard, or its gradient, as one row: AdamW divides by the gradient's size, so its smallest may round badly."""
    import torch

    is_tensor = isinstance(got, torch.Tensor)
    expect.that(
        not (is_tensor and got.ndim == 1 and len(got) < len(wanted)),
        f"{here}: {name} is too short",
        symptom="remainder_dropped",
    )
    wrong = {key: (lambda each=each: each()[None]) for key, each in suspects.items()}
    row = got[None] if is_tensor else got
    expect.close(row, wanted[None], known[None], case=here, name=name, suspects=wrong)


def _gathers(expect: Expect, case: str, seen: Any, blocks: Sequence["Block"], ranks: int, steps: int) -> None:
    """Two all_gathers and one reduce_scatter of each block and step, of its parameters."""
    for rank, calls in enumerate(seen.collectives):
        for step in range(steps):
            for block, (weights, _) in enumerate(blocks):
                here = f"{case}, rank {rank}, step {step}, block {block}"
                elements = sum(each.numel() for each in weights)
                whole_bytes = 4 * ranks * training.shard_elements(elements, ranks)
                forward, backward = (
                    [call for call in calls if call.phase == f"{direction} {step} block {block}"]
                    for direction in ("forward", "backward")
                )
                found = Counter(call.kind for call in (*forward, *backward))
                found.pop("barrier", None)
                expect.that(
                    found == {"all_gather": 2, "reduce_scatter": 1},
                    f"{here}: two all_gathers and one reduce_scatter are needed"
                    + ("" if expect.hidden else f", and there were {_counted(found)}"),
                    symptom=_gathers_symptom(found, len(weights)),
                )
                expect.that(
                    all(call.bytes == whole_bytes for call in (*forward, *backward)),
                    f"{here}: each collective is of ranks·s elements"
                    + ("" if expect.hidden else f", {whole_bytes:,} B"),
                    symptom="wrong_size",
                )
                expect.that(
                    [call.kind for call in forward] == ["all_gather"],
                    f"{here}: forward takes one all_gather, backward one all_gather and one reduce_scatter",
                    symptom="gathered_in_the_wrong_pass",
                )


def _counted(found: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(found.items())) or "none"


def _gathers_symptom(found: Mapping[str, int], parameters: int) -> str:
    if found.get("all_reduce"):
        return "all_reduce_for_reduce_scatter"
    gathers = found.get("all_gather", 0)
    if gathers == 1:
        return "gathered_once"
    return "gathered_by_parameter" if gathers == 2 * parameters > 2 else OTHERWISE


def _lives(expect: Expect, here: str, value: Mapping[str, Any], block_bytes: int, shard_bytes: int) -> None:
    """No more than a few blocks are whole at any moment."""
    for what, most in GATHERED_BLOCKS.items():
        found = value[f"{what}_bytes"] - (shard_bytes if what == "backward" else 0)
        expect.measured(f"{what}_bytes", found, "B")
        when = {"between": "between forward and backward"}.get(what, f"in {what}")
        expect.that(
            found <= most * block_bytes,
            f"{here}: {when} more than {most:g} times a block's parameters live beside the shards"
            + ("" if expect.hidden else f": {found / block_bytes:.1f} times"),
            symptom="never_freed",
        )
