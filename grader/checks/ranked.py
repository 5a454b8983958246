"""Checks of layers cut over ranks: values, gradients, what each rank keeps, and which collectives it took part in."""

from collections.abc import Sequence
from typing import Any

from grader.calls.faults import CheckFailed
from grader.checks.expect import Expect
from kernels_ref.shards.case import Case, Traffic

HELD_SLACK = 1.1
"""Times the shard's bytes that a layer may hold: sizes and positions beside it are small."""
HELD_SLACK_BYTES = 512


def reports(expect: Expect, seen: Any, case: Case) -> list[dict[str, Any]]:
    """What the scenario `module` told of each rank.

    Raises:
        CheckFailed: what came back is no such report, the class makes no module, or its forward no tensor.
    """
    told = list(seen.values)
    for rank, report in enumerate(told):
        expect.that(len(told) == case.ranks and _is_report(report), "no whole report of the ranks came back")
        # The text names a class of the submission's: a hidden input could leave by it.
        what = "the class makes no nn.Module, or its forward returns no tensor"
        expect.that(not report["kind"], f"rank {rank}: {what if expect.hidden else report['kind']}")
    return told


def _is_report(report: object) -> bool:
    """Whether this is what the scenario returns: its process is the submission's too, and could send anything."""
    import torch

    def tensor(value: object) -> bool:
        return value is None or isinstance(value, torch.Tensor)

    if not isinstance(report, dict):
        return False
    gradients, shapes, changed = report.get("gradients"), report.get("shapes"), report.get("changed")
    return (
        isinstance(report.get("kind"), str)
        and all(name in report and tensor(report[name]) for name in ("output", "gradient_of_x"))
        and (report["output"] is not None or bool(report["kind"]))
        and isinstance(gradients, dict)
        and all(isinstance(name, str) and tensor(value) for name, value in gradients.items())
        and isinstance(shapes, dict)
        and all(isinstance(name, str) and _is_shape(shape) for name, shape in shapes.items())
        and type(report.get("held_bytes")) is int
        and isinstance(changed, list)
        and all(isinstance(name, str) for name in changed)
    )


def _is_shape(value: object) -> bool:
    return isinstance(value, list | tuple) and all(type(size) is int for size in value)


def layer_values(
    expect: Expect, seen: Any, case: Case, label: str, *, only: Sequence[str] | None = None
) -> None:
    """Outputs and gradients of every rank are those of the whole layer.

    Args:
        label: what was asked, in words that a student knows.
        only: names of what is compared; None for all.
    """
    for rank, report in enumerate(reports(expect, seen, case)):
        symptom = shape_symptom(report, case, rank)
        got = {"output": report["output"], "gradient of x": report.get("gradient_of_x")}
        got |= {f"gradient of {name}": value for name, value in dict(report["gradients"]).items()}
        for name, (reference, trusted) in case.wanted[rank].items():
            if only is not None and name not in only:
                continue
            where = f"{label}, rank {rank}"
            value = got.get(name)
            if value is None:
                missing = "no_gradient_of_bias" if name == "gradient of bias" else ""
                raise CheckFailed(
                    f"{where}: {_missing(expect, name, report, case, rank)}", symptom=symptom or missing
                )
            if tuple(value.shape) != tuple(reference.shape) and symptom:
                sizes = "" if expect.hidden else f" {tuple(value.shape)}, not {tuple(reference.shape)}"
                raise CheckFailed(f"{where}: {name} has the wrong shape{sizes}", symptom=symptom)
            suspects = case.suspects[rank].get(name, {})
            try:
                expect.close(
                    value,
                    reference,
                    trusted,
                    case=where,
                    name=name,
                    rows=0,
                    exponent=case.exponent,
                    suspects=suspects,
                )
            except CheckFailed as failed:
                raise CheckFailed(failed.message, symptom=failed.symptom or symptom) from None
        what = "what belongs to the caller" if expect.hidden else ", ".join(report["changed"])
        expect.that(
            not report["changed"], f"{label}, rank {rank}: {what} was written to", symptom="changed_in_place"
        )
    spoke = any(call.kind != "barrier" for calls in seen.collectives for call in calls)
    expect.that(
        spoke or case.ranks == 1,
        f"{label}: values are right, and the ranks never speak to each other: each computes the whole alone",
        symptom="computed_alone",
    )


def _missing(expect: Expect, name: str, report: dict[str, Any], case: Case, rank: int) -> str:
    if name == "output":
        return "there is no output"
    parameter = name.removeprefix("gradient of ")
    if parameter != "x" and parameter not in report["shapes"]:
        there = ", ".join(list(report["shapes"])[:8]) or "none"
        names = "" if expect.hidden else f"; the module's parameters are: {there}"
        return f"there is no parameter called {parameter}{names}"
    return f"there is no {name}"


def shape_symptom(report: dict[str, Any], case: Case, rank: int) -> str:
    """What the shapes of a rank's parameters say, "" where they are right or say nothing."""
    for name, right in case.shapes[rank].items():
        found = tuple(report["shapes"].get(name, right))
        if found == right:
            continue
        if found == case.whole[name]:
            return "whole_parameter_kept"
        if len(found) != len(right):
            return ""
        differs = [dim for dim in range(len(right)) if found[dim] != right[dim]]
        least = min(shapes[name][differs[0]] for shapes in case.shapes)
        if len(differs) == 1 and found[differs[0]] == least:
            return "remainder_dropped"
        if len(differs) == 2:
            return "cut_the_other_way"
    return ""


def kept(expect: Expect, seen: Any, case: Case, label: str) -> None:
    """Every rank keeps its shard of the parameters and no more."""
    for rank, report in enumerate(reports(expect, seen, case)):
        symptom = shape_symptom(report, case, rank)
        where = f"{label}, rank {rank}"
        for name, right in case.shapes[rank].items():
            found = report["shapes"].get(name)
            expect.that(found is not None, f"{where}: there is no parameter called {name}")
            sizes = "" if expect.hidden else f": it is {tuple(found)}, and should be {right}"
            expect.that(
                tuple(found) == right, f"{where}: {name} is not the rank's shard{sizes}", symptom=symptom
            )
        needed = sum(4 * _product(shape) for shape in case.shapes[rank].values())
        held = report["held_bytes"]
        sizes = "" if expect.hidden else f": {held:,} bytes, and its shard has {needed:,}"
        expect.that(
            held <= HELD_SLACK * needed + HELD_SLACK_BYTES,
            f"{where}: the layer keeps more than its shard alive{sizes}",
            symptom="more_held_than_the_shard",
        )
        expect.measured(f"bytes held by rank {rank}", held, "B")


def _product(shape: Sequence[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def communicates(expect: Expect, seen: Any, case: Case, label: str) -> None:
    """Every rank took part in the collectives that the layer needs, and in no others."""
    reports(expect, seen, case)
    for rank, calls in enumerate(seen.collectives):
        for phase, needed in (("forward", case.forward), ("backward", case.backward)):
            found = [call for call in calls if call.phase == phase and call.kind != "barrier"]
            accepted = case.accepted if phase == "backward" else ()
            _match(expect, found, needed, accepted, f"{label}, rank {rank}, {phase}", phase)
    expect.measured("bytes on the wire, all ranks", seen.wire_bytes, "B")


def _match(
    expect: Expect,
    found: list[Any],
    needed: Sequence[Traffic],
    accepted: Sequence[Traffic],
    where: str,
    phase: str,
) -> None:
    left = list(found)
    for each in needed:
        same = next((call for call in left if call.kind == each.kind), None)
        if same is None:
            extra = [call.kind for call in left if call.kind not in {other.kind for other in needed}]
            if extra:
                raise CheckFailed(
                    f"{where}: it makes {_counted(extra)}, where the layer needs one {each.kind}",
                    symptom=f"{phase}.{extra[0]}_for_{each.kind}",
                )
            raise CheckFailed(
                f"{where}: no {each.kind}, and the layer needs one", symptom=f"{phase}.no_{each.kind}"
            )
        left.remove(same)
        sizes = "" if expect.hidden else f": {same.bytes:,} bytes, not {_span(each)}"
        expect.that(
            each.least_bytes <= same.bytes <= each.most_bytes,
            f"{where}: the {each.kind} has the wrong size{sizes}",
            symptom=f"{phase}.size_of_{each.kind}",
        )
    for each in accepted:
        same = next((call for call in left if call.kind == each.kind and call.bytes <= each.most_bytes), None)
        if same is not None:
            left.remove(same)
    needs = _counted([each.kind for each in needed]) or "none"
    expect.that(
        not left,
        f"{where}: it makes {_counted([call.kind for call in found])}, and the layer needs {needs}",
        symptom=f"{phase}.extra_{left[0].kind}" if left else "",
    )


def _span(traffic: Traffic) -> str:
    if traffic.least_bytes == traffic.most_bytes:
        return f"{traffic.least_bytes:,}"
    return f"{traffic.least_bytes:,} to {traffic.most_bytes:,}"


def _counted(kinds: Sequence[str]) -> str:
    """`2 all_reduce and 1 all_gather`"""
    return " and ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
