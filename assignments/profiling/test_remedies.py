"""Visible checks of remedies.py: the largest share of a step decides what to do."""

import pytest

from specs import StepBreakdown


def a_step(duration_s=1.0, overlapped_communication_s=0.0, **parts):
    """A breakdown with these parts; what is missing to the duration goes to idle_host_s unless it is given."""
    names = ("matmul_s", "attention_s", "memory_bound_s", "copy_s", "exposed_communication_s", "idle_data_s")
    given = {name: parts.get(name, 0.0) for name in names}
    return StepBreakdown(
        step=1,
        duration_s=duration_s,
        overlapped_communication_s=overlapped_communication_s,
        idle_host_s=duration_s - sum(given.values()),
        **given,
    )


def check_remedies(submission, expect, wanted):
    """Every step is asked for before the first is compared."""
    got = {case: submission.profiling.remedy(given) for case, (given, _, _) in wanted.items()}
    for case, (_, name, share) in wanted.items():
        answer = got[case]
        said, part = (
            (answer.get("name"), answer.get("share"))
            if isinstance(answer, dict)
            else (getattr(answer, "name", None), getattr(answer, "share", None))
        )
        expect.that(said is not None and part is not None, f"{case}: a Remedy(name, share) is needed")
        expect.equal(said, name, case=f"{case}, name")
        expect.number(part, share, case=f"{case}, share")


@pytest.mark.exercise("profiling.remedy", weight=2)
def test_each_remedy_has_its_part_of_the_time(submission, expect):
    """Half of a step of 1/4 s in one part of it: each part has its remedy, and the share is 0.5."""
    rest = {"matmul_s": 1 / 16, "memory_bound_s": 1 / 32, "idle_data_s": 1 / 64}
    check_remedies(
        submission,
        expect,
        {
            "mostly matmul": (a_step(0.25, **{**rest, "matmul_s": 1 / 8}), "fine", 0.5),
            "mostly memory-bound": (a_step(0.25, **{**rest, "memory_bound_s": 1 / 8}), "fuse", 0.5),
            "mostly exposed": (a_step(0.25, **rest, exposed_communication_s=1 / 8), "overlap", 0.5),
            "mostly data": (a_step(0.25, **{**rest, "idle_data_s": 1 / 8}), "loader", 0.5),
            "mostly host": (a_step(0.25, **rest), "launch_bound", 9 / 16),
        },
    )


@pytest.mark.exercise("profiling.remedy")
def test_attention_is_fine_and_copies_want_overlap(submission, expect):
    """Matmul and attention count together, and so do exposed communication and copies."""
    check_remedies(
        submission,
        expect,
        {
            "two halves of fine": (
                a_step(1.0, matmul_s=0.25, attention_s=0.25, memory_bound_s=0.375),
                "fine",
                0.5,
            ),
            "two halves of overlap": (
                a_step(1.0, copy_s=0.25, exposed_communication_s=0.25, matmul_s=0.375),
                "overlap",
                0.5,
            ),
        },
    )


@pytest.mark.exercise("profiling.remedy")
def test_communication_that_is_hidden_costs_nothing(submission, expect):
    """Overlapped communication is under other work: it decides nothing."""
    check_remedies(
        submission,
        expect,
        {
            "half a step hidden": (
                a_step(2.0, matmul_s=1.0, exposed_communication_s=0.25, overlapped_communication_s=1.0),
                "fine",
                0.5,
            ),
            "hidden under memory-bound kernels": (
                a_step(2.0, memory_bound_s=1.5, overlapped_communication_s=1.5),
                "fuse",
                0.75,
            ),
        },
    )


@pytest.mark.exercise("profiling.remedy")
def test_the_two_kinds_of_waiting_are_two_things(submission, expect):
    """40 % on memory against 30 % on data and 30 % on the host is a matter of fusing, and not of idle time."""
    check_remedies(
        submission,
        expect,
        {
            "40, 30 and 30 %": (a_step(1.0, memory_bound_s=0.4, idle_data_s=0.3), "fuse", 0.4),
            "a tie": (a_step(1.0, matmul_s=0.25, memory_bound_s=0.25, idle_data_s=0.25), "fine", 0.25),
        },
    )
