"""Each kernel takes the longer of its launch and its own time."""

from collections.abc import Sequence

from specs import LaunchTimes

from ..fusion import launch_bound as right

EXERCISE = "fusion"
HINT = (
    "You take the longer of launch and kernel for each kernel. While a long one runs, the host gets "
    "several launches ahead."
)
FAILS = (
    "test_small_kernels_wait_for_their_launches",
    "test_a_long_kernel_hides_the_launches_behind_it",
    "test_a_launch_that_is_just_in_time_is_not_waited_for",
    "test_any_kernels",
)


def launch_bound(kernel_s: Sequence[float], launch_s: float, graph_launch_s: float) -> LaunchTimes:
    eager_s = sum(max(launch_s, each) for each in kernel_s)
    return right(kernel_s, launch_s, graph_launch_s).model_copy(update={"eager_s": eager_s})
