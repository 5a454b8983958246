"""The bound is named after the larger of two sums."""

from collections.abc import Sequence

from specs import LaunchTimes

from ..fusion import launch_bound as right

EXERCISE = "fusion"
HINT = (
    "Your bound compares all launches with all kernels. A long kernel at the end does not help: ask "
    "whether the device ever waits."
)
FAILS = (
    "test_small_kernels_wait_for_their_launches",
    "test_a_long_kernel_hides_the_launches_behind_it",
    "test_any_kernels",
)


def launch_bound(kernel_s: Sequence[float], launch_s: float, graph_launch_s: float) -> LaunchTimes:
    bound = "launch" if len(kernel_s) * launch_s > sum(kernel_s) else "device"
    return right(kernel_s, launch_s, graph_launch_s).model_copy(update={"bound": bound})
