"""Visible checks of fusion.py: section 5."""

import pytest

from specs import Cost, Op


def op(name, flops, reads, writes):
    """An operation by its tensors."""
    return Op(name=name, flops=flops, reads=reads, writes=writes)


def part(expect, got, name):
    """One field of what came back, as an object or as a dict."""
    value = got.get(name) if isinstance(got, dict) else getattr(got, name, None)
    expect.that(value is not None, f"{name}: it is missing in what was returned")
    return value


def check_chains(submission, expect, wanted):
    """Every chain is asked for before the first is compared.

    `wanted` maps a case to (ops, keep) and the (FLOPs, bytes read, bytes written) before and after.
    """
    got = {case: submission.roofline.fused_cost(ops, keep) for case, (ops, keep, _, _) in wanted.items()}
    for case, (_, _, *right) in wanted.items():
        for name, (flops, read, written) in zip(("before", "after"), right, strict=True):
            cost = Cost(flops=flops, bytes_read=read, bytes_written=written)
            expect.terms(part(expect, got[case], name), cost, case=f"{case}, {name}")


BIAS_GELU = (
    op("bias", 1000, {"x": 2000, "b": 50}, {"t": 2000}),
    op("gelu", 8000, {"t": 2000}, {"y": 2000}),
)
BIAS_GELU_RESIDUAL = (*BIAS_GELU, op("residual", 1000, {"y": 2000, "r": 2000}, {"z": 2000}))
GATED = (
    op("silu", 4000, {"gate": 2000}, {"s": 2000}),
    op("product", 1000, {"s": 2000, "up": 2000}, {"m": 2000}),
)
# The mean is read by both ops after it, x by all three.
STANDARDISE = (
    op("mean", 1000, {"x": 2000}, {"mean": 40}),
    op("deviation", 3000, {"x": 2000, "mean": 40}, {"rstd": 40}),
    op("scale", 2000, {"x": 2000, "mean": 40, "rstd": 40}, {"y": 2000}),
)


@pytest.mark.exercise("roofline.fusion", weight=2)
def test_what_one_op_writes_and_a_later_one_reads_stays_on_the_chip(submission, expect):
    """Bias, GELU and residual in one kernel move 6,050 bytes in place of 14,050, at the same FLOPs."""
    check_chains(
        submission,
        expect,
        {
            "bias, GELU": (BIAS_GELU, (), (9000, 4050, 4000), (9000, 2050, 2000)),
            "bias, GELU, residual": (BIAS_GELU_RESIDUAL, (), (10000, 8050, 6000), (10000, 4050, 2000)),
            "SiLU, product": (GATED, (), (5000, 6000, 4000), (5000, 4000, 2000)),
            "GELU alone": (BIAS_GELU[1:], (), (8000, 2000, 2000), (8000, 2000, 2000)),
        },
    )


@pytest.mark.exercise("roofline.fusion")
def test_an_input_that_several_ops_read_is_read_once(submission, expect):
    """x is read by three ops, and once by one kernel; what skips a neighbour stays on the chip all the same."""
    rotary = (
        op("times cosine", 1000, {"q": 2000, "angles": 300}, {"a": 2000}),
        op("rotate", 0, {"q": 2000}, {"b": 2000}),
        op("times sine", 1000, {"b": 2000, "angles": 300}, {"c": 2000}),
        op("add", 1000, {"a": 2000, "c": 2000}, {"out": 2000}),
    )
    check_chains(
        submission,
        expect,
        {
            "standardise": (STANDARDISE, (), (6000, 6120, 2080), (6000, 2000, 2000)),
            "rotary positions": (rotary, (), (3000, 10600, 8000), (3000, 2300, 2000)),
        },
    )


@pytest.mark.exercise("roofline.fusion")
def test_what_the_backward_pass_wants_is_written_and_not_read_back(submission, expect):
    """A tensor in `keep` is written once by the fused kernel, and still not read back."""
    check_chains(
        submission,
        expect,
        {
            "keep t": (BIAS_GELU_RESIDUAL, ("t",), (10000, 8050, 6000), (10000, 4050, 4000)),
            "keep t and y": (BIAS_GELU_RESIDUAL, ("t", "y"), (10000, 8050, 6000), (10000, 4050, 6000)),
            "keep mean and rstd": (STANDARDISE, ("mean", "rstd"), (6000, 6120, 2080), (6000, 2000, 2080)),
            "keep z, an output": (BIAS_GELU_RESIDUAL, ("z",), (10000, 8050, 6000), (10000, 4050, 2000)),
        },
    )


@pytest.mark.exercise("roofline.fusion")
def test_every_tensor_that_nobody_in_the_chain_reads_is_an_output(submission, expect):
    """A chain may have several outputs, and an early op may write one of them."""
    dropout = (
        op("draw", 0, {}, {"mask": 1000}),
        op("drop", 2000, {"x": 2000, "mask": 1000}, {"y": 2000}),
        op("add", 1000, {"y": 2000, "r": 2000}, {"sum": 2000}),
        op("round", 0, {"sum": 2000}, {"low": 500}),
    )
    halves = (
        op("split", 0, {"x": 2000}, {"left": 1000, "right": 1000}),
        op("silu", 2000, {"left": 1000}, {"s": 1000}),
    )
    check_chains(
        submission,
        expect,
        {
            "dropout, residual": (dropout, ("mask",), (3000, 9000, 5500), (3000, 4000, 1500)),
            "split, SiLU of one half": (halves, (), (2000, 3000, 3000), (2000, 2000, 2000)),
        },
    )


def check_launches(submission, expect, wanted):
    """Every chain of kernels is asked for before the first is compared.

    `wanted` maps a case to its keyword arguments and (device_s, eager_s, graph_s, bound).
    """
    got = {case: submission.roofline.launch_bound(**arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, (device_s, eager_s, graph_s, bound)) in wanted.items():
        times = {"device_s": device_s, "eager_s": eager_s, "graph_s": graph_s}
        expect.terms(got[case], times, unit="s", case=case)
        expect.equal(part(expect, got[case], "bound"), bound, case=f"{case}, bound")


def launches(kernel_s, launch_s, graph_launch_s=10e-6):
    """Keyword arguments of a chain of kernels."""
    return {"kernel_s": kernel_s, "launch_s": launch_s, "graph_launch_s": graph_launch_s}


@pytest.mark.exercise("roofline.fusion")
def test_small_kernels_wait_for_their_launches(submission, expect):
    """100 kernels of 2 µs take 502 µs behind launches of 5 µs, 210 in a graph; 100 of 20 µs take 2005."""
    # The last launch is done at 100·5 = 500 µs. Long kernels wait for the first launch alone: 5 + 100·20.
    check_launches(
        submission,
        expect,
        {
            "2 µs each": (launches([2e-6] * 100, 5e-6), (200e-6, 502e-6, 210e-6, "launch")),
            "20 µs each": (launches([20e-6] * 100, 5e-6), (2000e-6, 2005e-6, 2010e-6, "device")),
            "one of 3 µs": (launches([3e-6], 7e-6), (3e-6, 10e-6, 13e-6, "device")),
        },
    )


@pytest.mark.exercise("roofline.fusion")
def test_a_long_kernel_hides_the_launches_behind_it(submission, expect):
    """The host launches ahead while a long kernel runs; it matters where in the chain that kernel stands."""
    # First: 10 + 100, then 6 of 1 µs, launched long ago. Last: the launch is done at 7·10, then 100.
    # In the middle, 4th of 7: its launch is done at 40, it ends at 140, all other launches at 70.
    check_launches(
        submission,
        expect,
        {
            "long one first": (launches([100e-6] + [1e-6] * 6, 10e-6), (106e-6, 116e-6, 116e-6, "device")),
            "long one last": (launches([1e-6] * 6 + [100e-6], 10e-6), (106e-6, 170e-6, 116e-6, "launch")),
            "long one in the middle": (
                launches([1e-6] * 3 + [100e-6] + [1e-6] * 3, 10e-6, 25e-6),
                (106e-6, 143e-6, 131e-6, "launch"),
            ),
            "long ones at both ends": (
                launches([30e-6, 2e-6, 2e-6, 2e-6, 50e-6], 10e-6),
                (86e-6, 100e-6, 96e-6, "launch"),
            ),
        },
    )


@pytest.mark.exercise("roofline.fusion")
def test_a_launch_that_is_just_in_time_is_not_waited_for(submission, expect):
    """Kernels exactly as long as a launch keep the device busy; a little shorter and it waits."""
    # Powers of two, so that sums are exact: 1/1024 s a launch.
    launch = 1 / 1024
    check_launches(
        submission,
        expect,
        {
            "as long as a launch": (
                launches([launch] * 4, launch, launch / 2),
                (4 * launch, 5 * launch, 4.5 * launch, "device"),
            ),
            "half as long": (
                launches([launch / 2] * 4, launch, launch / 2),
                (2 * launch, 4.5 * launch, 2.5 * launch, "launch"),
            ),
            "a launch that costs nothing": (
                launches([launch, launch / 2], 0.0, launch),
                (1.5 * launch, 1.5 * launch, 2.5 * launch, "device"),
            ),
        },
    )
