"""Launching a graph is taken to cost nothing."""

from collections.abc import Sequence

from specs import LaunchTimes

from ..fusion import launch_bound as right

EXERCISE = "fusion"
HINT = "A graph has to be launched too, once: graph_launch_s."
FAILS = (
    "test_small_kernels_wait_for_their_launches",
    "test_a_long_kernel_hides_the_launches_behind_it",
    "test_a_launch_that_is_just_in_time_is_not_waited_for",
    "test_any_kernels",
)


def launch_bound(kernel_s: Sequence[float], launch_s: float, graph_launch_s: float) -> LaunchTimes:
    return right(kernel_s, launch_s, graph_launch_s).model_copy(update={"graph_s": sum(kernel_s)})
