"""The limit is rounded down to a whole number of GPUs."""

EXERCISE = "overlap"
HINT = "Do not round: the limit is where two times are equal, and below 1 it says something too."
FAILS = (
    "test_an_mlp_of_28672_can_be_cut_13_ways_in_a_node_of_h100s",
    "test_any_mlp",
)


def tp_limit(intermediate: int, flops_per_s: float, link_bytes_per_s: float) -> float:
    return int(intermediate * link_bytes_per_s / flops_per_s)
