"""Only one of the two matrices works."""

EXERCISE = "overlap"
HINT = "You count the FLOPs of one matrix against the traffic of both. Between the gather and the scatter lie two matmuls."
FAILS = (
    "test_an_mlp_of_28672_can_be_cut_13_ways_in_a_node_of_h100s",
    "test_any_mlp",
)


def tp_limit(intermediate: int, flops_per_s: float, link_bytes_per_s: float) -> float:
    return intermediate * link_bytes_per_s / flops_per_s / 2
