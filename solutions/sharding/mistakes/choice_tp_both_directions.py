"""The link is taken at the sum of both directions."""

EXERCISE = "overlap"
HINT = "You allow twice as many ways: data sheets add both directions of a link, and the sends of a ring go one way."
FAILS = (
    "test_an_mlp_of_28672_can_be_cut_13_ways_in_a_node_of_h100s",
    "test_any_mlp",
)


def tp_limit(intermediate: int, flops_per_s: float, link_bytes_per_s: float) -> float:
    return 2 * intermediate * link_bytes_per_s / flops_per_s
