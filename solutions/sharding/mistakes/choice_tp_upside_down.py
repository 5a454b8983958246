"""The limit is upside down."""

EXERCISE = "overlap"
HINT = "Your limit is upside down: a faster link and a wider MLP allow more ways, a faster GPU fewer."
FAILS = (
    "test_an_mlp_of_28672_can_be_cut_13_ways_in_a_node_of_h100s",
    "test_any_mlp",
)


def tp_limit(intermediate: int, flops_per_s: float, link_bytes_per_s: float) -> float:
    return flops_per_s / (intermediate * link_bytes_per_s)
