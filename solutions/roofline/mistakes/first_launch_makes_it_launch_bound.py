"""The wait for the first launch is taken to make any chain launch-bound."""

from collections.abc import Sequence

from specs import LaunchTimes

from ..fusion import launch_bound as right

EXERCISE = "fusion"
HINT = "The device waits for the first launch in every chain. Launch-bound is one that waits again later."
FAILS = (
    "test_small_kernels_wait_for_their_launches",
    "test_a_long_kernel_hides_the_launches_behind_it",
    "test_a_launch_that_is_just_in_time_is_not_waited_for",
    "test_any_kernels",
)


def launch_bound(kernel_s: Sequence[float], launch_s: float, graph_launch_s: float) -> LaunchTimes:
    got = right(kernel_s, launch_s, graph_launch_s)
    bound = "launch" if got.eager_s > got.device_s else "device"
    return got.model_copy(update={"bound": bound})
