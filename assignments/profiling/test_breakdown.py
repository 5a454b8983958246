"""Visible checks of breakdown.py: small steps by hand. Streams overlap, steps are cut off, idle time has two causes."""

import pytest

from grader.checks import traced
from grader.checks.traced import KINDS, kernel, loader, operator, step, twin


def check_steps(submission, expect, wanted, kinds=KINDS):
    """Every trace is asked for before the first is compared."""
    got = {case: submission.profiling.step_breakdown(events, kinds) for case, (events, _) in wanted.items()}
    for case, (_, right) in wanted.items():
        traced.breakdowns(expect, got[case], right, case)


@pytest.mark.exercise("profiling.step_breakdown", weight=2)
def test_work_goes_to_its_class_and_the_rest_is_idle(submission, expect):
    """A step of 100 µs with 40 µs of matmul, 10 of attention, 20 memory-bound, 5 of copies waits 25 for the host."""
    step_4 = [
        step(4, 0, 100_000),
        kernel("copy", 0, 5000),
        kernel("matmul", 10_000, 50_000),
        kernel("attention", 50_000, 60_000),
        kernel("memory_bound", 70_000, 90_000),
    ]
    full = {
        "step": 4,
        "duration_s": 100_000,
        "matmul_s": 40_000,
        "attention_s": 10_000,
        "memory_bound_s": 20_000,
        "copy_s": 5000,
        "idle_host_s": 25_000,
    }
    alone = {"step": 4, "duration_s": 100_000, "idle_host_s": 100_000}
    check_steps(
        submission,
        expect,
        {"four kernels": (step_4, [full]), "no kernel": (step_4[:1], [alone]), "no step": (step_4[1:], [])},
    )


@pytest.mark.exercise("profiling.step_breakdown", weight=2)
def test_time_that_two_kernels_share_counts_once(submission, expect):
    """Where two classes run at once the time goes to matmul, attention, memory_bound, copy, in that order."""
    all_at_once = [
        step(1, 0, 100),
        kernel("copy", 0, 80, stream=3),
        kernel("memory_bound", 0, 60, stream=8),
        kernel("attention", 0, 30, stream=9),
        kernel("matmul", 0, 10),
    ]
    same_class = [step(1, 0, 100), kernel("matmul", 0, 50), kernel("matmul", 20, 70, stream=8)]
    check_steps(
        submission,
        expect,
        {
            "four classes at once": (
                all_at_once,
                [
                    {
                        "step": 1,
                        "duration_s": 100,
                        "matmul_s": 10,
                        "attention_s": 20,
                        "memory_bound_s": 30,
                        "copy_s": 20,
                        "idle_host_s": 20,
                    }
                ],
            ),
            "two matmuls on two streams": (
                same_class,
                [{"step": 1, "duration_s": 100, "matmul_s": 70, "idle_host_s": 30}],
            ),
        },
    )


@pytest.mark.exercise("profiling.step_breakdown", weight=2)
def test_communication_is_exposed_where_nothing_else_runs(submission, expect):
    """An all-reduce of 60 µs, 40 of them under a matmul: 20 exposed, 40 overlapped, and the sum is the step."""
    under_a_matmul = [
        step(2, 0, 80_000),
        kernel("matmul", 0, 50_000),
        kernel("communication", 10_000, 70_000, stream=24),
    ]
    under_the_rest = [
        step(2, 0, 100),
        kernel("communication", 0, 90, stream=24),
        kernel("memory_bound", 10, 30),
        kernel("copy", 40, 50, stream=3),
        kernel("attention", 60, 65),
    ]
    check_steps(
        submission,
        expect,
        {
            "under a matmul": (
                under_a_matmul,
                [
                    {
                        "step": 2,
                        "duration_s": 80_000,
                        "matmul_s": 50_000,
                        "exposed_communication_s": 20_000,
                        "overlapped_communication_s": 40_000,
                        "idle_host_s": 10_000,
                    }
                ],
            ),
            "under other work": (
                under_the_rest,
                [
                    {
                        "step": 2,
                        "duration_s": 100,
                        "memory_bound_s": 20,
                        "copy_s": 10,
                        "attention_s": 5,
                        "exposed_communication_s": 55,
                        "overlapped_communication_s": 35,
                        "idle_host_s": 10,
                    }
                ],
            ),
        },
    )


@pytest.mark.exercise("profiling.step_breakdown", weight=2)
def test_idle_under_the_loader_waits_on_data(submission, expect):
    """The loader takes 30 µs, and a kernel covers 10 of them: 20 wait on data, other idle time on the host."""
    events = [step(3, 0, 60), loader(0, 30), kernel("memory_bound", 5, 15), kernel("matmul", 35, 55)]
    hidden = [step(3, 0, 60), loader(10, 30), kernel("matmul", 0, 60)]
    workers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    by_workers = [step(3, 0, 60), {**loader(20, 50), "name": workers}, kernel("matmul", 10, 30)]
    check_steps(
        submission,
        expect,
        {
            "partly covered": (
                events,
                [
                    {
                        "step": 3,
                        "duration_s": 60,
                        "memory_bound_s": 10,
                        "matmul_s": 20,
                        "idle_data_s": 20,
                        "idle_host_s": 10,
                    }
                ],
            ),
            "wholly covered": (hidden, [{"step": 3, "duration_s": 60, "matmul_s": 60}]),
            "a loader with workers": (
                by_workers,
                [{"step": 3, "duration_s": 60, "matmul_s": 20, "idle_data_s": 20, "idle_host_s": 20}],
            ),
        },
    )


@pytest.mark.exercise("profiling.step_breakdown", weight=2)
def test_steps_are_cut_off_at_both_ends(submission, expect):
    """A kernel that runs from step 9 into step 10 gives each the part that lies in it; the shadow of a step is none."""
    events = [
        step(10, 100, 200),
        step(9, 0, 100),
        twin(9, 20, 120),
        twin(10, 120, 220),
        kernel("matmul", 90, 130),
        kernel("memory_bound", 180, 260),
        kernel("attention", 300, 400),
    ]
    nine = {"step": 9, "duration_s": 100, "matmul_s": 10, "idle_host_s": 90}
    ten = {"step": 10, "duration_s": 100, "matmul_s": 30, "memory_bound_s": 20, "idle_host_s": 50}
    check_steps(
        submission,
        expect,
        {"steps 9 and 10": (events, [nine, ten]), "step 10 alone": ([events[0], *events[2:]], [ten])},
    )


@pytest.mark.exercise("profiling.step_breakdown")
def test_nanoseconds_add_up_late_in_a_trace(submission, expect):
    """At 5150047226.786061 s, where a float has no nanoseconds left after the second addition, the parts still sum."""
    at = 5_150_047_226_786_061
    late = [
        step(1, at, at + 1003),
        kernel("matmul", at + 1, at + 334),
        kernel("communication", at + 333, at + 667, stream=24),
        loader(at + 668, at + 1001),
    ]
    right = {
        "step": 1,
        "duration_s": 1003,
        "matmul_s": 333,
        "exposed_communication_s": 333,
        "overlapped_communication_s": 1,
        "idle_data_s": 333,
        "idle_host_s": 4,
    }
    early = [{**event, "ts": event["ts"] - (at - 61) / 1000} for event in late]
    early = [{**event, "ts": round(event["ts"], 3)} for event in early]
    shorter = [*early[:2], *early[3:]]
    check_steps(
        submission,
        expect,
        {
            "late": (late, [right]),
            "without communication": (
                shorter,
                [
                    {
                        **right,
                        "exposed_communication_s": 0,
                        "overlapped_communication_s": 0,
                        "idle_host_s": 337,
                    }
                ],
            ),
        },
    )


CPU_KINDS = {
    "aten::linear": "matmul",
    "aten::addmm": "matmul",
    "aten::copy_": "memory_bound",
    "aten::add": "memory_bound",
    "aten::_scaled_dot_product_flash_attention_for_cpu": "attention",
    "aten::empty": "memory_bound",
    "aten::stack": "memory_bound",
}


@pytest.mark.exercise("profiling.step_breakdown", weight=2)
def test_without_a_device_operators_count_with_their_self_time(submission, expect):
    """A linear of 50 µs with a copy of 10 inside is 40 of matmul; autograd's own time is the host's."""
    nested = [
        step(1, 0, 100),
        operator("aten::copy_", 20, 30),
        operator("aten::linear", 10, 60),
        operator("aten::addmm", 30, 55),
        operator("aten::_scaled_dot_product_flash_attention_for_cpu", 60, 80),
        operator("aten::empty", 60, 62),
    ]
    backward = [
        step(1, 0, 100),
        operator("autograd::engine::evaluate_function: AddmmBackward0", 10, 70),
        operator("AddmmBackward0", 12, 68),
        operator("aten::addmm", 20, 60),
    ]
    threads = [step(1, 0, 100), operator("aten::addmm", 0, 50), operator("aten::add", 40, 70, thread=2)]
    check_steps(
        submission,
        expect,
        {
            "operators in operators": (
                nested,
                [
                    {
                        "step": 1,
                        "duration_s": 100,
                        "matmul_s": 40,
                        "attention_s": 18,
                        "memory_bound_s": 12,
                        "idle_host_s": 30,
                    }
                ],
            ),
            "a backward pass": (
                backward,
                [{"step": 1, "duration_s": 100, "matmul_s": 40, "idle_host_s": 60}],
            ),
            "two threads": (
                threads,
                [{"step": 1, "duration_s": 100, "matmul_s": 50, "memory_bound_s": 20, "idle_host_s": 30}],
            ),
        },
        CPU_KINDS,
    )


@pytest.mark.exercise("profiling.step_breakdown")
def test_without_a_device_the_loaders_operators_are_the_loaders(submission, expect):
    """The loader stacks a batch with operators of its own: they keep the model waiting on data all the same."""
    events = [
        step(1, 0, 100),
        loader(0, 40),
        operator("aten::stack", 10, 30),
        operator("aten::addmm", 50, 90),
    ]
    with_device = [*events, kernel("matmul", 60, 95)]
    check_steps(
        submission,
        expect,
        {
            "CPU alone": (
                events,
                [{"step": 1, "duration_s": 100, "matmul_s": 40, "idle_data_s": 40, "idle_host_s": 20}],
            ),
            "with a device": (
                with_device,
                [{"step": 1, "duration_s": 100, "matmul_s": 35, "idle_data_s": 40, "idle_host_s": 25}],
            ),
        },
        {**KINDS, **CPU_KINDS},
    )


@pytest.mark.exercise("profiling.step_breakdown")
def test_without_kinds_your_classify_kernel_says_what_is_what(submission, expect):
    """step_breakdown(events) alone asks classify_kernel."""
    first = [step(1, 0, 10), kernel("matmul", 0, 4), kernel("communication", 4, 7)]
    second = [step(1, 0, 10), kernel("memory_bound", 0, 4), kernel("matmul", 4, 9)]
    got = [submission.profiling.step_breakdown(events) for events in (first, second)]
    one = {"step": 1, "duration_s": 10, "matmul_s": 4, "exposed_communication_s": 3, "idle_host_s": 3}
    two = {"step": 1, "duration_s": 10, "memory_bound_s": 4, "matmul_s": 5, "idle_host_s": 1}
    traced.breakdowns(expect, got[0], [one], "a matmul and an all-reduce")
    traced.breakdowns(expect, got[1], [two], "an addition and a matmul")


@pytest.mark.exercise("profiling.step_breakdown")
def test_kinds_outrank_the_names(submission, expect):
    """What kinds says of a name holds, whatever the name looks like: your own kernels have names of your own."""
    mine = {**kernel("matmul", 0, 4), "name": "gemm_free_norm"}
    other = {**kernel("matmul", 4, 7), "name": "my_step_17"}
    events = [step(1, 0, 10), mine, other]
    two = {"step": 1, "duration_s": 10, "memory_bound_s": 4, "attention_s": 3, "idle_host_s": 3}
    one = {"step": 1, "duration_s": 10, "memory_bound_s": 4, "idle_host_s": 6}
    kinds = {"gemm_free_norm": "memory_bound", "my_step_17": "attention"}
    check_steps(
        submission,
        expect,
        {"two kernels of your own": (events, [two]), "one of them": (events[:2], [one])},
        kinds,
    )
