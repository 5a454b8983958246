"""Hidden checks of remedies.py: drawn breakdowns against the reference."""

import pytest

from specs import StepBreakdown

PARTS = (
    "matmul_s",
    "attention_s",
    "memory_bound_s",
    "copy_s",
    "exposed_communication_s",
    "idle_data_s",
    "idle_host_s",
)


def a_step(rng, heavy):
    """A breakdown that is heavy on one part, drawn; sums of its ticks are exact."""
    tick = 2.0**-16
    ticks = {name: rng.randint(1, 20) for name in PARTS} | {heavy: rng.randint(15, 60)}
    overlapped = rng.randint(50, 90)
    return StepBreakdown(
        step=rng.randint(1, 99),
        duration_s=sum(ticks.values()) * tick,
        overlapped_communication_s=overlapped * tick,
        **{name: count * tick for name, count in ticks.items()},
    )


@pytest.mark.exercise("profiling.remedy", weight=3)
def test_any_step(submission, expect, oracle, rng):
    """Steps that are heavy on each part by turns, with much communication hidden."""
    steps = [a_step(rng, heavy) for heavy in (*PARTS, *PARTS)]
    got = [submission.profiling.remedy(each) for each in steps]
    for answer, given in zip(got, steps, strict=True):
        right = oracle.profiling.remedy(given)
        fields = (
            answer if isinstance(answer, dict) else {n: getattr(answer, n, None) for n in ("name", "share")}
        )
        expect.that(None not in (fields.get("name"), fields.get("share")), "a Remedy(name, share) is needed")
        expect.equal(fields["name"], right.name, case="the remedy's name")
        expect.number(fields["share"], right.share, case="the remedy's share")
