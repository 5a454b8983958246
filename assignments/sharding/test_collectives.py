"""Visible checks of collectives.py: section 1."""

import pytest

from specs import Link


def check_numbers(function, expect, wanted, unit):
    """Every case is asked for before the first is compared. `wanted` maps a case to (arguments, right number)."""
    got = {case: function(*arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, right) in wanted.items():
        expect.number(got[case], right, unit=unit, case=case, rel=1e-9)


def check_refused(function, expect, allowed, wanted):
    """`allowed` must be answered; each of `wanted`, what is wrong to its arguments, must raise a ValueError."""
    function(*allowed)
    for case, arguments in wanted.items():
        raised = function.probed("raised", *arguments)
        if raised == "":
            expect.that(
                False, f"{case}: it returned something; raise a ValueError", symptom=f"accepts {case}"
            )
        expect.that(raised == "ValueError", f"{case}: a ValueError is needed")


@pytest.mark.exercise("sharding.collective_bytes", weight=2)
def test_the_factors_of_a_ring_are_those_of_nccl_tests(submission, expect):
    """Of its size a GPU sends 2(n−1)/n in an all-reduce, (n−1)/n in a gather, a reduce-scatter, an all-to-all."""
    # nccl-tests, doc/PERFORMANCE.md: the ratio of bus bandwidth to algorithm bandwidth.
    mega = 64_000_000
    wanted = {
        "all_reduce of 64 MB, 2 GPUs": (("all_reduce", mega, 2), 64_000_000),
        "all_reduce of 64 MB, 8 GPUs": (("all_reduce", mega, 8), 112_000_000),
        "all_reduce of 64 MB, 64 GPUs": (("all_reduce", mega, 64), 126_000_000),
        "all_gather of 64 MB, 8 GPUs": (("all_gather", mega, 8), 56_000_000),
        "reduce_scatter of 64 MB, 8 GPUs": (("reduce_scatter", mega, 8), 56_000_000),
        "all_to_all of 64 MB, 2 GPUs": (("all_to_all", mega, 2), 32_000_000),
        "all_to_all of 64 MB, 64 GPUs": (("all_to_all", mega, 64), 63_000_000),
    }
    check_numbers(submission.sharding.collective_bytes, expect, wanted, "bytes")


@pytest.mark.exercise("sharding.collective_bytes")
def test_bytes_that_do_not_divide_are_not_rounded(submission, expect):
    """Three GPUs send 2/3 of a tensor that three does not divide, and twice that in an all-reduce."""
    wanted = {
        "all_gather of 100 bytes, 3 GPUs": (("all_gather", 100, 3), 200 / 3),
        "all_reduce of 100 bytes, 3 GPUs": (("all_reduce", 100, 3), 400 / 3),
        "reduce_scatter of 7 bytes, 5 GPUs": (("reduce_scatter", 7, 5), 5.6),
        "all_to_all of 11 bytes, 4 GPUs": (("all_to_all", 11, 4), 8.25),
    }
    check_numbers(submission.sharding.collective_bytes, expect, wanted, "bytes")


@pytest.mark.exercise("sharding.collective_bytes")
def test_a_broadcast_and_a_message_are_sent_whole(submission, expect):
    """In a line every GPU passes the whole tensor on; a message does not care how many look on."""
    wanted = {
        "broadcast of 5000 bytes, 4 GPUs": (("broadcast", 5000, 4), 5000),
        "broadcast of 5000 bytes, 2 GPUs": (("broadcast", 5000, 2), 5000),
        "send of 700 bytes, 4 GPUs": (("send", 700, 4), 700),
        "send of 700 bytes, 1 GPU in the group": (("send", 700, 1), 700),
        "send of nothing": (("send", 0, 2), 0),
    }
    check_numbers(submission.sharding.collective_bytes, expect, wanted, "bytes")


@pytest.mark.exercise("sharding.collective_bytes", weight=2)
def test_the_root_of_a_tree_sends_at_every_level(submission, expect):
    """The root sends all of the tensor ceil(log2 n) times: on the way down only, so an all-reduce does no more."""
    # Levels: 1 for 2 GPUs, 2 for 3 and 4, 3 for 5 to 8, 7 for 65 to 128.
    wanted = {
        "broadcast of 1000 bytes, 2 GPUs, tree": (("broadcast", 1000, 2, "tree"), 1000),
        "broadcast of 1000 bytes, 8 GPUs, tree": (("broadcast", 1000, 8, "tree"), 3000),
        "all_reduce of 1000 bytes, 8 GPUs, tree": (("all_reduce", 1000, 8, "tree"), 3000),
        "all_reduce of 1000 bytes, 5 GPUs, tree": (("all_reduce", 1000, 5, "tree"), 3000),
        "all_reduce of 1000 bytes, 65 GPUs, tree": (("all_reduce", 1000, 65, "tree"), 7000),
        "all_reduce of 1000 bytes, 4 GPUs, tree": (("all_reduce", 1000, 4, "tree"), 2000),
    }
    check_numbers(submission.sharding.collective_bytes, expect, wanted, "bytes")


@pytest.mark.exercise("sharding.collective_bytes")
def test_one_gpu_alone_sends_nothing(submission, expect):
    """A group of one has nobody to send to; two GPUs have."""
    wanted = {
        "all_reduce, 1 GPU": (("all_reduce", 1000, 1), 0),
        "all_gather, 1 GPU": (("all_gather", 1000, 1), 0),
        "broadcast, 1 GPU": (("broadcast", 1000, 1), 0),
        "broadcast, 1 GPU, tree": (("broadcast", 1000, 1, "tree"), 0),
        "all_reduce, 1 GPU, tree": (("all_reduce", 1000, 1, "tree"), 0),
        "all_gather, 2 GPUs": (("all_gather", 1000, 2), 500),
    }
    check_numbers(submission.sharding.collective_bytes, expect, wanted, "bytes")


@pytest.mark.exercise("sharding.collective_bytes")
def test_what_is_no_collective_is_refused(submission, expect):
    """An unknown kind or algorithm, a tree where there is none, no GPUs, a negative size: a ValueError."""
    wanted = {
        "an unknown kind": ("all_reduse", 1000, 4),
        "an unknown algorithm": ("all_reduce", 1000, 4, "star"),
        "an all_gather by tree": ("all_gather", 1000, 4, "tree"),
        "gpus = 0": ("all_reduce", 1000, 0),
        "a negative size": ("all_reduce", -1000, 4),
    }
    check_refused(submission.sharding.collective_bytes, expect, ("all_reduce", 1000, 4, "tree"), wanted)


# 10 us, and 1e9 bytes a second: 1000 bytes take 1 us.
SLOW = Link(latency_s=10e-6, bandwidth_bytes_per_s=1e9)
NVLINK = Link(latency_s=0, bandwidth_bytes_per_s=450e9)


@pytest.mark.exercise("sharding.collective_time_s")
def test_an_h100_node_gathers_half_a_gib_in_a_millisecond(submission, expect):
    """The scaling book's H100 node: 2^29 bytes gathered in 1.04 ms, 2^25 in 65 us; an all-reduce takes twice that."""
    # jax-ml/scaling-book, gpus.md: 450 GB/s in one direction, (n−1)/n of the bytes, no latency.
    wanted = {
        "all_gather of 2^29 bytes": (("all_gather", 2**29, 8, NVLINK), 2**29 * 7 / 8 / 450e9),
        "reduce_scatter of 2^25 bytes": (("reduce_scatter", 2**25, 8, NVLINK), 2**25 * 7 / 8 / 450e9),
        "all_reduce of 2^29 bytes": (("all_reduce", 2**29, 8, NVLINK), 2**29 * 7 / 4 / 450e9),
    }
    check_numbers(submission.sharding.collective_time_s, expect, wanted, "s")


@pytest.mark.exercise("sharding.collective_time_s", weight=2)
def test_every_step_of_a_ring_pays_the_latency(submission, expect):
    """Four GPUs, 8000 bytes, 10 us and 1 GB/s: three steps of 10 + 2 us, six for an all-reduce."""
    wanted = {
        "all_gather": (("all_gather", 8000, 4, SLOW), 36e-6),
        "reduce_scatter": (("reduce_scatter", 8000, 4, SLOW), 36e-6),
        "all_to_all": (("all_to_all", 8000, 4, SLOW), 36e-6),
        "all_reduce": (("all_reduce", 8000, 4, SLOW), 72e-6),
        "all_reduce, 8 GPUs": (("all_reduce", 8000, 8, SLOW), 154e-6),
    }
    check_numbers(submission.sharding.collective_time_s, expect, wanted, "s")


@pytest.mark.exercise("sharding.collective_time_s")
def test_a_tree_has_few_steps_and_large_messages(submission, expect):
    """A tree of 16 takes 8 messages for an all-reduce where a ring takes 30: it wins while messages are small."""
    wanted = {
        "16 GPUs, 100 bytes, tree": (("all_reduce", 100, 16, SLOW, "tree"), 8 * 10.1e-6),
        "16 GPUs, 100 bytes, ring": (("all_reduce", 100, 16, SLOW), 30 * 10.00625e-6),
        "16 GPUs, 1.6 MB, tree": (("all_reduce", 1_600_000, 16, SLOW, "tree"), 8 * 1610e-6),
        "16 GPUs, 1.6 MB, ring": (("all_reduce", 1_600_000, 16, SLOW), 30 * 110e-6),
        "broadcast, 5 GPUs, tree": (("broadcast", 8000, 5, SLOW, "tree"), 3 * 18e-6),
    }
    check_numbers(submission.sharding.collective_time_s, expect, wanted, "s")


@pytest.mark.exercise("sharding.collective_time_s")
def test_a_broadcast_down_the_line_and_a_message(submission, expect):
    """Down the line the pieces overlap: 3 latencies and once 8 us. A message costs one latency. One GPU: nothing."""
    wanted = {
        "broadcast, 4 GPUs": (("broadcast", 8000, 4, SLOW), 38e-6),
        "broadcast, 2 GPUs": (("broadcast", 8000, 2, SLOW), 18e-6),
        "send": (("send", 8000, 2, SLOW), 18e-6),
        "send of nothing": (("send", 0, 2, SLOW), 10e-6),
        "broadcast, 1 GPU": (("broadcast", 8000, 1, SLOW), 0),
        "all_reduce, 1 GPU": (("all_reduce", 8000, 1, SLOW), 0),
    }
    check_numbers(submission.sharding.collective_time_s, expect, wanted, "s")


@pytest.mark.exercise("sharding.collective_time_s", weight=2)
def test_a_hierarchical_all_reduce_sends_a_piece_over_the_network(submission, expect):
    """Three nodes of 4: 2·3 steps inside of 12 KB pieces, 2·2 steps between of 4 KB pieces."""
    # 48,000 bytes. Inside 10 + 12 us a step; between 30 us and 0.1 GB/s: 30 + 40 us a step.
    network = Link(latency_s=30e-6, bandwidth_bytes_per_s=1e8)
    wanted = {
        "12 GPUs, nodes of 4": (("all_reduce", 48_000, 12, SLOW, "ring", 4, network), 412e-6),
        "12 GPUs, one node": (("all_reduce", 48_000, 12, SLOW, "ring", 12, network), 22 * 14e-6),
        "12 GPUs, nodes of 1": (("all_reduce", 48_000, 12, SLOW, "ring", 1, network), 22 * 70e-6),
        "12 GPUs on the slow link, flat": (("all_reduce", 48_000, 12, network), 22 * 70e-6),
    }
    check_numbers(submission.sharding.collective_time_s, expect, wanted, "s")


@pytest.mark.exercise("sharding.collective_time_s")
def test_what_is_no_hierarchy_is_refused(submission, expect):
    """Nodes that do not divide the GPUs, no network, another kind, a tree, an unknown kind: a ValueError."""
    network = Link(latency_s=30e-6, bandwidth_bytes_per_s=1e8)
    wanted = {
        "10 GPUs in nodes of 4": ("all_reduce", 1000, 10, SLOW, "ring", 4, network),
        "nodes without a network": ("all_reduce", 1000, 8, SLOW, "ring", 4),
        "an all_gather over nodes": ("all_gather", 1000, 8, SLOW, "ring", 4, network),
        "a tree over nodes": ("all_reduce", 1000, 8, SLOW, "tree", 4, network),
        "an unknown kind": ("gather_all", 1000, 4, SLOW),
        "gpus = 0": ("all_reduce", 1000, 0, SLOW),
    }
    allowed = ("all_reduce", 1000, 8, SLOW, "ring", 4, network)
    check_refused(submission.sharding.collective_time_s, expect, allowed, wanted)
