"""Hidden checks of collectives.py: random sizes, groups and links against the reference."""

import pytest

from specs import Link

RING_KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send")
TREE_KINDS = ("all_reduce", "broadcast")


def random_link(rng):
    """Latency and bandwidth such that both matter for a few megabytes."""
    return Link(latency_s=rng.uniform(1e-6, 1e-4), bandwidth_bytes_per_s=rng.uniform(1e9, 9e11))


@pytest.mark.exercise("sharding.collective_bytes", weight=5)
def test_the_bytes_of_any_ring(submission, expect, oracle, rng):
    """Groups of any size, tensors of any size, every kind."""
    for kind in RING_KINDS * 2:
        call = (kind, rng.randint(1000, 10**9), rng.randint(2, 300))
        got = submission.sharding.collective_bytes(*call)
        expect.number(got, oracle.sharding.collective_bytes(*call), case=kind, rel=1e-9)


@pytest.mark.exercise("sharding.collective_bytes", weight=3)
def test_the_bytes_of_any_tree(submission, expect, oracle, rng):
    """A tree over a power of two, over one GPU more, and over any number."""
    for kind in TREE_KINDS:
        power = 2 ** rng.randint(2, 9)
        for gpus in (power, power + 1, power - 1, rng.randint(2, 300)):
            call = (kind, rng.randint(1000, 10**9), gpus, "tree")
            got = submission.sharding.collective_bytes(*call)
            expect.number(got, oracle.sharding.collective_bytes(*call), case=f"{kind}, tree", rel=1e-9)


@pytest.mark.exercise("sharding.collective_time_s", weight=3)
def test_the_seconds_of_any_ring_or_tree(submission, expect, oracle, rng):
    """Links of any latency and bandwidth, every kind, rings and trees."""
    cases = [(kind, "ring") for kind in RING_KINDS] + [(kind, "tree") for kind in TREE_KINDS * 2]
    for kind, algorithm in cases:
        call = (kind, rng.randint(1000, 10**8), rng.randint(2, 300), random_link(rng), algorithm)
        got = submission.sharding.collective_time_s(*call)
        expect.number(got, oracle.sharding.collective_time_s(*call), case=f"{kind}, {algorithm}", rel=1e-9)


@pytest.mark.exercise("sharding.collective_time_s", weight=3)
def test_the_seconds_of_any_hierarchy(submission, expect, oracle, rng):
    """Nodes of any size over networks that are slower or faster than the links inside."""
    for _ in range(6):
        per_node, nodes = rng.randint(2, 16), rng.randint(2, 40)
        call = ("all_reduce", rng.randint(10**5, 10**9), per_node * nodes, random_link(rng), "ring", per_node)
        network = random_link(rng)
        got = submission.sharding.collective_time_s(*call, network)
        right = oracle.sharding.collective_time_s(*call, network)
        expect.number(got, right, case="nodes of several GPUs", rel=1e-9)


@pytest.mark.exercise("sharding.collective_time_s", weight=2)
def test_one_node_and_nodes_of_one_gpu_are_flat_rings(submission, expect, oracle, rng):
    """A hierarchy of one node is a ring over its link, and one of single GPUs a ring over the network."""
    for per_node_is_all in (True, False):
        gpus, link, network = rng.randint(2, 60), random_link(rng), random_link(rng)
        size = rng.randint(10**5, 10**9)
        per_node = gpus if per_node_is_all else 1
        got = submission.sharding.collective_time_s("all_reduce", size, gpus, link, "ring", per_node, network)
        flat = oracle.sharding.collective_time_s(
            "all_reduce", size, gpus, link if per_node_is_all else network
        )
        expect.number(got, flat, case="a hierarchy of one level", rel=1e-9)
