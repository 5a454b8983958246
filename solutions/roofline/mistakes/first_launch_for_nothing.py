"""The first kernel starts at once, and every later launch is done one launch_s too early."""

from collections.abc import Sequence

from specs import LaunchTimes

from ..fusion import launch_bound as right

EXERCISE = "fusion"
HINT = (
    "You start the first kernel at time 0. Its launch takes launch_s too: launch i is done at (i + "
    "1)·launch_s."
)
FAILS = (
    "test_small_kernels_wait_for_their_launches",
    "test_a_long_kernel_hides_the_launches_behind_it",
    "test_a_launch_that_is_just_in_time_is_not_waited_for",
    "test_any_kernels",
)


def launch_bound(kernel_s: Sequence[float], launch_s: float, graph_launch_s: float) -> LaunchTimes:
    got = right(kernel_s, launch_s, graph_launch_s)
    end_s = 0.0
    for index, each in enumerate(kernel_s):
        end_s = max(end_s, index * launch_s) + each
    return got.model_copy(update={"eager_s": end_s})
