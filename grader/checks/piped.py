"""Checks of a pipeline on ranks: gradients of every stage are the whole model's, and messages follow the schedule.

Which messages a rank sent was seen beside the student's code: it is looked at only after the values of the same call
have been found right.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from grader.checks import averaged
from grader.checks.expect import Expect
from grader.checks.rank_reports import reports, rows
from kernels_ref.shards import training

if TYPE_CHECKING:
    from kernels_ref.shards.training import Part


def pipeline_step(
    submission: Any,
    expect: Expect,
    case: str,
    stages: Sequence[Sequence[Any]],
    schedule: Sequence[tuple[int, int, int, str]],
    micro_batches: Sequence[tuple[Any, Any]],
) -> None:
    """run_pipeline gives each stage the gradients of the whole model, and sends what the schedule asks for.

    Args:
        stages: the matrices of each stage.
        schedule: (time, stage, micro-batch, "F" or "B") of all stages.
        micro_batches: inputs and targets, equally many examples in each.
    """
    inputs, targets = (list(each) for each in zip(*micro_batches, strict=True))
    seen = submission.sharding.run_pipeline.on_ranks(
        [(stage,) for stage in stages],
        scenario="pipeline",
        deadline_s=averaged.DEADLINE_S,
        schedule=list(schedule),
        inputs=inputs,
        targets=targets,
    )
    weights = [each for stage in stages for each in stage]
    layers = range(len(weights))
    parts: list[Part] = [
        (1 / (len(micro_batches) * len(own)), layers, inputs, own) for inputs, own in micro_batches
    ]
    suspects = {
        "sum_for_mean": [(part[0] * len(parts), *part[1:]) for part in parts],
        "first_micro_batch_only": parts[:1],
        "last_micro_batch_only": parts[-1:],
        "activations_mixed": [(part[0] * len(parts), *part[1:]) for part in parts[-1:]],
        "mean_of_first": [(part[0] * len(parts), *part[1:]) for part in parts[:1]],
    }
    first = 0
    told = reports(expect, seen, len(stages), {"gradients": list})
    for rank, (value, stage) in enumerate(zip(told, stages, strict=True)):
        here = f"{case}, stage {rank}"
        got = rows(expect, value["gradients"], len(stage))
        whole = [None] * first + got + [None] * (len(weights) - first - len(got))
        wrong = suspects if len(parts) > 1 else {}
        averaged.gradients(
            expect, here, whole, (weights, weights), parts, wrong, only=range(first, first + len(got))
        )
        first += len(got)
        _loss(expect, here, value.get("loss"), weights, parts, rank == len(stages) - 1)
    _messages(expect, case, seen, stages, schedule, len(inputs[0]))


def _loss(
    expect: Expect, here: str, got: Any, weights: Sequence[Any], parts: Sequence["Part"], last: bool
) -> None:
    import torch

    if not last:
        expect.that(
            got is None,
            f"{here}: only the last stage returns a loss, the others None",
            symptom=averaged.OTHERWISE,
        )
        return
    expect.that(
        isinstance(got, float),
        f"{here}: the last stage returns the mean loss, a float",
        symptom=averaged.OTHERWISE,
    )
    losses = [
        factor
        * 0.5
        * (training.outputs(weights, layers, x, torch.float64) - y.double()).square().sum().item()
        for factor, layers, x, y in parts
    ]
    expect.number(got, sum(losses), case=f"{here}, mean loss", rel=1e-5)


def _messages(
    expect: Expect,
    case: str,
    seen: Any,
    stages: Sequence[Sequence[Any]],
    schedule: Sequence[tuple[int, int, int, str]],
    examples: int,
) -> None:
    """Each stage sends one message of a micro-batch forward and one back, in the order of its schedule."""
    last = len(stages) - 1
    for rank, calls in enumerate(seen.collectives):
        here = f"{case}, stage {rank}"
        wanted = []
        for _, _, _, direction in sorted(step for step in schedule if step[1] == rank):
            if direction == "F" and rank < last:
                wanted.append((rank + 1, 4 * examples * stages[rank][-1].shape[1]))
            if direction == "B" and rank > 0:
                wanted.append((rank - 1, 4 * examples * stages[rank][0].shape[0]))
        sent = [(call.peer, call.bytes) for call in calls if call.kind == "send"]
        others = {call.kind for call in calls} - {"send", "recv", "barrier"}
        expect.that(
            not others,
            f"{here}: only sends and receives are needed, and there is {', '.join(sorted(others))}",
            symptom=averaged.OTHERWISE,
        )
        expect.that(
            sorted(sent) == sorted(wanted),
            f"{here}: one message forward and one back is needed for each micro-batch, of one activation",
            symptom="wrong_messages",
        )
        expect.that(
            sent == wanted,
            f"{here}: messages are not sent in the order of the schedule",
            symptom="schedule_ignored",
        )
