"""Checks of data parallel training: gradients are those of one process, and what was communicated for them.

What a rank holds and which collectives it started was seen beside the student's code: it is looked at only after
the values of the same call have been found right.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grader.checks.expect import Expect
from grader.checks.rank_reports import reports, rows, same
from kernels_ref.shards import training

if TYPE_CHECKING:
    from kernels_ref.shards.training import Part

ROOM = 16
"""Elements that the all_reduce of naive_ddp may carry beside the gradients."""

OTHERWISE = "otherwise_wrong"
"""Symptom of what no mistake explains, where values are right: those would fit every mistake that is right there."""


def gradients(
    expect: Expect,
    case: str,
    got: Any,
    weights: tuple[Sequence[Any], Sequence[Any]],
    parts: Sequence["Part"],
    suspects: Mapping[str, Sequence["Part"]] | None = None,
    frozen: Sequence[int] = (),
    only: Sequence[int] | None = None,
) -> None:
    """The gradients of one rank are those of one process.

    Args:
        got: by the index of the weight; None where the rank has none.
        weights: in fp64 and in fp32.
        parts: what the gradient is of.
        suspects: by symptom, what it is of by a usual mistake.
        frozen: indices of weights that have none.
        only: indices of the weights that are looked at; all by default.
    """
    import torch

    right = training.gradients(weights[0], parts, torch.float64, frozen)
    trusted = training.gradients(weights[1], parts, torch.float32, frozen)
    wrong = {
        name: training.gradients(weights[0], other, torch.float64) for name, other in (suspects or {}).items()
    }
    for index, (mine, wanted, known) in enumerate(
        zip(rows(expect, got, len(right)), right, trusted, strict=True)
    ):
        name = f"the gradient of weight {index}"
        if only is not None and index not in only:
            continue
        if wanted is None:
            zeros = isinstance(mine, torch.Tensor) and not bool(mine.any())
            empty = mine is None or (index not in frozen and zeros)
            expect.that(empty, f"{case}: {name} is not zero, and nobody used this weight")
            continue
        of_this = {
            key: (lambda each=each[index]: each) for key, each in wrong.items() if each[index] is not None
        }
        expect.close(mine, wanted, known, case=case, name=name, suspects=of_this)


# ---- naive_ddp


def broadcast(expect: Expect, seen: Any, given: Sequence[tuple[Sequence[Any], Sequence[Any]]]) -> None:
    """Every rank holds rank 0's parameters and buffers to the last bit, in the tensors of before.

    Args:
        given: (parameters, buffers) of each rank; every second parameter is frozen.
    """
    fields = {"parameters": list, "buffers": list, "same_objects": bool, "clean": bool}
    for rank, value in enumerate(reports(expect, seen, len(given), fields)):
        for what, of_0, own in zip(("parameters", "buffers"), given[0], given[rank], strict=True):
            expect.that(len(value[what]) == len(of_0), f"rank {rank}: the {what} are not the ones of before")
            for index, (got, wanted, old) in enumerate(zip(value[what], of_0, own, strict=True)):
                frozen = what == "parameters" and index % 2 == 1
                expect.that(
                    same(got, wanted),
                    f"rank {rank} does not hold rank 0's {'frozen ' * frozen}{what}",
                    symptom=("frozen_stay" if frozen else f"{what}_stay") if same(got, old) else "",
                )
        expect.that(
            value["same_objects"], f"rank {rank}: the tensors are not the ones of before", symptom=OTHERWISE
        )
        expect.that(
            value["clean"], f"rank {rank}: a parameter has a gradient or a graph now", symptom=OTHERWISE
        )


def naive_step(
    submission: Any,
    expect: Expect,
    case: str,
    weights: Sequence[Any],
    micro_batches: Sequence[Sequence[tuple[Any, Any]]],
    runs: Sequence[Sequence[int]] | None = None,
    frozen: Sequence[int] = (),
) -> None:
    """naive_ddp gives every rank the gradient of the mean over all examples, with one all_reduce.

    Args:
        micro_batches: of each rank.
        runs: the layers that each rank uses, all by default.
    """
    runs = runs or [tuple(range(len(weights)))] * len(micro_batches)
    seen = submission.sharding.naive_ddp.on_ranks(
        list(zip(micro_batches, runs, strict=True)),
        scenario="naive_ddp",
        deadline_s=DEADLINE_S,
        weights=weights,
        frozen=frozen,
    )
    parts, suspects = _means(micro_batches, runs)
    for rank, value in enumerate(
        reports(expect, seen, len(micro_batches), {"gradients": list, "unchanged": bool})
    ):
        here = f"{case}, rank {rank}"
        gradients(expect, here, value["gradients"], (weights, weights), parts, suspects, frozen)
        expect.that(
            value["unchanged"],
            f"{here}: the parameters have changed, and only gradients should",
            symptom=OTHERWISE,
        )
    needed = sum(weight.numel() for index, weight in enumerate(weights) if index not in frozen)
    for calls, own in zip(seen.collectives, micro_batches, strict=True):
        count = len(calls)
        expect.measured("collectives a step", count)
        symptoms = {
            len(weights) - len(frozen): "one_for_each_parameter",
            len(own): "one_for_each_micro_batch",
        }
        expect.that(
            count == 1 and calls[0].kind == "all_reduce",
            f"{case}: a step costs one all_reduce and nothing else"
            + ("" if expect.hidden else f", and it cost {count} collectives"),
            symptom=symptoms.get(count, OTHERWISE) if count > 1 else OTHERWISE,
        )
        expect.that(
            needed <= calls[0].elements <= needed + ROOM,
            f"{case}: the all_reduce carries each gradient once and at most {ROOM} elements more"
            + ("" if expect.hidden else f": {calls[0].elements} elements for {needed} gradients"),
            symptom=OTHERWISE,
        )


def _means(
    micro_batches: Sequence[Sequence[tuple[Any, Any]]], runs: Sequence[Sequence[int]]
) -> tuple[list["Part"], dict[str, list["Part"]]]:
    """The parts of the mean over all examples, and those of other means."""
    counts = [sum(len(inputs) for inputs, _ in own) for own in micro_batches]
    ranks, examples = len(counts), sum(counts)

    def parts(factors: Sequence[float], first: int | None = None) -> list["Part"]:
        return [
            (factor, layers, *each)
            for factor, layers, own in zip(factors, runs, micro_batches, strict=True)
            for each in own[first:]
        ]

    right = parts([1 / examples] * ranks)
    wrong = {
        "sum_for_mean": parts([1.0] * ranks),
        "mean_of_means": parts([1 / (ranks * max(count, 1)) for count in counts]),
        "sum_of_means": parts([1 / max(count, 1) for count in counts]),
        "divided_by_ranks_only": parts([1 / ranks] * ranks),
        "last_micro_batch_only": parts([1 / examples] * ranks, -1),
    }
    return right, {name: each for name, each in wrong.items() if _differ(each, right)}


def _differ(left: Sequence["Part"], right: Sequence["Part"]) -> bool:
    return [part[0] for part in left] != [part[0] for part in right]


# ---- DistributedDataParallel

Steps = Sequence[tuple[Sequence[int], Sequence[tuple[Any, Any]]]]
"""For each step the layers that a rank uses, and its micro-batches."""

LEARNING_RATE = 0.1

DEADLINE_S = 20.0
"""Of a call on ranks: 0.5 s on two idle cores, ten times that where other work takes them."""


def overlapped_steps(
    submission: Any,
    expect: Expect,
    case: str,
    weights: Sequence[Sequence[Any]],
    steps: Sequence[Steps],
    *,
    layers: Sequence[int] | None = None,
    frozen: Sequence[int] = (),
    bucket_bytes: int,
) -> None:
    """DistributedDataParallel gives every rank the mean of the ranks' gradients, in buckets that start in backward.

    Args:
        weights: of each rank; rank 0's count.
        steps: of each rank.
        layers: for each layer the index of its weight, in order by default.
        frozen: indices of weights.
        bucket_bytes: for the class.
    """
    ranks = len(weights)
    layers = range(len(weights[0])) if layers is None else layers
    seen = submission.sharding.DistributedDataParallel.on_ranks(
        list(zip(steps, weights, strict=True)),
        scenario="ddp",
        layers=list(layers),
        frozen=frozen,
        bucket_bytes=bucket_bytes,
        learning_rate=LEARNING_RATE,
        deadline_s=DEADLINE_S,
        late=ranks > 1,
    )
    fields = {"values": list, "gradients": list, "through": bool, "early": bool}
    told = reports(expect, seen, ranks, fields)
    _at_the_beginning(expect, case, told, weights)
    expect.that(
        all(value["through"] for value in told),
        f"{case}: backward waits for the other ranks: rank 0 did not come through before the last rank began",
        symptom="backward_waits",
    )
    started = [call for call in seen.collectives[0] if call.phase.startswith(("backward 0", "finish 0"))]
    sizes = _sizes(weights[0], layers, frozen)
    all_sent = len(started) >= len(training.buckets(sizes, bucket_bytes))
    expect.that(
        not any(value["early"] for value in told),
        f"{case}: finish_gradient_synchronization returned before the last rank had sent its gradients"
        + ("" if all_sent else ", and not all buckets had been sent"),
        symptom="not_waited" if all_sent else "not_sent",
    )
    _gradients_of_steps(expect, case, told, weights[0], steps, layers, frozen)
    for rank, own in enumerate(steps):
        _buckets(
            expect,
            f"{case}, rank {rank}",
            seen.collectives[rank],
            weights[0],
            own,
            layers,
            frozen,
            bucket_bytes,
        )


def _at_the_beginning(
    expect: Expect, case: str, told: Sequence[dict[str, Any]], weights: Sequence[Sequence[Any]]
) -> None:
    for rank, value in enumerate(told):
        held = rows(expect, value["values"], len(weights[0]))
        for got, wanted, own in zip(held, weights[0], weights[rank], strict=True):
            expect.that(
                same(got, wanted),
                f"{case}: after the construction rank {rank} does not hold rank 0's parameters",
                symptom="not_broadcast" if same(got, own) else "",
            )


def _gradients_of_steps(
    expect: Expect,
    case: str,
    told: Sequence[dict[str, Any]],
    weights: Sequence[Any],
    steps: Sequence[Steps],
    layers: Sequence[int],
    frozen: Sequence[int],
) -> None:
    import torch

    ranks = len(steps)
    now = ([weight.double() for weight in weights], list(weights))
    for number in range(len(steps[0])):
        by_rank: list[list[Part]] = [
            [
                (1 / len(targets), [layers[index] for index in own[number][0]], inputs, targets)
                for inputs, targets in own[number][1]
            ]
            for own in steps
        ]
        parts = _scaled([part for own in by_rank for part in own], 1 / ranks)
        for rank, value in enumerate(told):
            of_steps = rows(expect, value["gradients"], len(steps[0]))
            suspects = {
                "sum_for_mean": _scaled(parts, ranks),
                "own_gradient": by_rank[rank],
                "own_part_of_mean": _scaled(by_rank[rank], 1 / ranks),
                "last_micro_batch_only": _scaled([own[-1] for own in by_rank], 1 / ranks),
            }
            suspects = {name: each for name, each in suspects.items() if ranks > 1 and _differ(each, parts)}
            here = f"{case}, step {number}, rank {rank}"
            gradients(expect, here, of_steps[number], now, parts, suspects, frozen)
        now = (
            _descended(now[0], training.gradients(now[0], parts, torch.float64, frozen)),
            _descended(now[1], training.gradients(now[1], parts, torch.float32, frozen)),
        )


def _descended(weights: Sequence[Any], gradients: Sequence[Any]) -> list[Any]:
    return [
        weight if gradient is None else weight - LEARNING_RATE * gradient
        for weight, gradient in zip(weights, gradients, strict=True)
    ]


def _scaled(parts: Sequence["Part"], factor: float) -> list["Part"]:
    return [(factor * part[0], *part[1:]) for part in parts]


def _buckets(
    expect: Expect,
    case: str,
    calls: Sequence[Any],
    weights: Sequence[Any],
    steps: Steps,
    layers: Sequence[int],
    frozen: Sequence[int],
    bucket_bytes: int,
) -> None:
    """One all_reduce for each bucket, started as soon as its gradients are there."""
    sizes = _sizes(weights, layers, frozen)
    buckets = training.buckets(sizes, bucket_bytes)
    wanted = [sum(sizes[index] for index in bucket) for bucket in buckets]
    for number, (runs, _) in enumerate(steps):
        ahead = [call for call in calls if call.phase == f"no_sync {number}"]
        expect.that(
            not ahead, f"{case}: a backward inside of no_sync communicates", symptom="no_sync_communicates"
        )
        found = [
            call
            for call in calls
            if call.phase.split(" below ")[0] in (f"backward {number}", f"finish {number}")
        ]
        expect.measured("all_reduces a step", len(found))
        got = [call.bytes for call in found]
        symptom = OTHERWISE
        if got != wanted:
            from_first = training.buckets(dict(reversed(sizes.items())), bucket_bytes)
            if sum(got) > sum(wanted):
                symptom = "more_than_the_gradients"
            elif got == [sum(sizes[index] for index in bucket) for bucket in from_first]:
                symptom = "filled_from_the_first"
            elif len(got) == len(sizes):
                symptom = "bucket_for_each_parameter"
            elif len(got) == 1:
                symptom = "one_bucket_for_all"
        expect.that(
            got == wanted and all(call.kind == "all_reduce" for call in found),
            f"{case}: the collectives of a step are not one all_reduce for each bucket"
            + ("" if expect.hidden else f": {got} bytes, and the buckets have {wanted}"),
            symptom=symptom,
        )
        phases = _starts(number, runs, layers, buckets)
        started = [call.phase for call in found]
        in_finish = all(phase.startswith("finish") for phase in started)
        expect.that(
            not in_finish or phases == started,
            f"{case}: every all_reduce starts in finish_gradient_synchronization: nothing overlaps with backward",
            symptom="no_overlap",
        )
        expect.that(
            phases == started,
            f"{case}: a bucket is not started when its last gradient is there and the buckets before it are started",
            symptom="started_out_of_time",
        )


def _sizes(weights: Sequence[Any], layers: Sequence[int], frozen: Sequence[int]) -> dict[int, int]:
    """Bytes of each parameter that needs a gradient, in the order of the module."""
    return {index: weights[index].nbytes for index in dict.fromkeys(layers) if index not in frozen}


def _starts(
    number: int, runs: Sequence[int], layers: Sequence[int], buckets: Sequence[Sequence[int]]
) -> list[str]:
    """The phase in which each bucket can be started."""
    last = len(runs) - 1
    there: dict[int, int] = {}  # by weight: how many layers backward has left when its gradient is complete
    for place, layer in enumerate(runs):
        there.setdefault(layers[layer], last - place)
    starts, at_least = [], 0
    for bucket in buckets:
        at_least = max([at_least, *(there.get(index, last + 1) for index in bucket)])
        if at_least > last:
            starts.append(f"finish {number}")
        else:
            below = f" below {runs[last - at_least + 1]}" if at_least else ""
            starts.append(f"backward {number}{below}")
    return starts
