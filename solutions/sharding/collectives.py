# %% [markdown]
# # What a collective costs
#
# Section 1 of the handout, `README.md`: the formulas and one worked number each.

# %%
"""What a collective costs: bytes that a GPU sends, and seconds by the alpha-beta model."""

from typing import Literal

from specs import Link

Kind = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send"]
Algorithm = Literal["ring", "tree"]


# %% tags=["instructor"]
def _refuse(kind: str, size_bytes: float, gpus: int, algorithm: str) -> None:
    """Raise a ValueError for what is no collective."""
    kinds = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send")
    if kind not in kinds:
        raise ValueError(f"kind {kind!r}: choose one of {', '.join(kinds)}")
    if algorithm not in ("ring", "tree"):
        raise ValueError(f"algorithm {algorithm!r}: choose ring or tree")
    if algorithm == "tree" and kind not in ("all_reduce", "broadcast"):
        raise ValueError(f"{kind} has no tree here: only all_reduce and broadcast have one")
    if gpus < 1:
        raise ValueError(f"gpus = {gpus}: a group has at least one")
    if size_bytes < 0:
        raise ValueError(f"size_bytes = {size_bytes}: a size is not negative")


# %% tags=["instructor"]
def _levels(gpus: int) -> int:
    """Levels of a binomial tree over so many GPUs, ceil(log2 gpus), in integers."""
    return (gpus - 1).bit_length()


# %% nbgrader={"grade": false, "grade_id": "sharding.collective_bytes", "locked": false, "schema_version": 3, "solution": true, "task": false}
def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    """Bytes that one GPU sends in one collective: the GPU that sends most, where they differ.

    What a GPU receives does not count; it goes the other way on the same link, at the same time.

    Args:
        kind: which collective, and so what `size_bytes` is the size of:
            "all_reduce"      the tensor that is summed; every GPU has one of this size before and after.
            "all_gather"      the gathered tensor; before, each GPU has 1/gpus of it.
            "reduce_scatter"  the tensor that each GPU brings in; after, each has 1/gpus of the sum.
            "all_to_all"      the tensor that each GPU brings in: 1/gpus of it for every GPU, itself included.
            "broadcast"       the tensor that one GPU has before and all have after.
            "send"            the message from one GPU to one other. `gpus` is not read, and may be 1.
        size_bytes: that size, at least 0.
        gpus: GPUs in the group, at least 1. One GPU alone sends nothing (but for "send").
        algorithm: "ring": the GPUs stand in a ring and pass on pieces of 1/gpus of the tensor, to the next one
            only. An all-reduce is a reduce-scatter and then an all-gather. An all-to-all sends each part
            straight to its GPU. A broadcast goes down the line from GPU to GPU, and the last has nobody to
            send to.
            "tree", for "all_reduce" and "broadcast" only: at every level of a binomial tree the GPUs that have
            the tensor send all of it to as many that do not; so 8 GPUs take 3 levels, 5 GPUs take 3, and the
            root sends at every level. An all-reduce first sums up to the root in the same tree, where every
            GPU but the root sends once, and then broadcasts from it. The GPU that sends most is the root.

    Returns:
        Bytes, a fraction where gpus does not divide them: nothing is rounded.

    Raises:
        ValueError: no such kind or algorithm, a kind that has no tree, gpus below 1, a negative size.

    Source: Thakur, Rabenseifner and Gropp 2005 (Optimization of Collective Communication Operations in MPICH),
    section 4; the ring's factors are the "bus bandwidth" of nccl-tests, doc/PERFORMANCE.md.
    """
    ### BEGIN SOLUTION
    _refuse(kind, size_bytes, gpus, algorithm)
    if kind == "send":
        return size_bytes
    if algorithm == "tree":
        return _levels(gpus) * size_bytes
    if kind == "broadcast":
        return size_bytes if gpus > 1 else 0
    passes = 2 if kind == "all_reduce" else 1
    return passes * (gpus - 1) * size_bytes / gpus
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "sharding.collective_time_s", "locked": false, "schema_version": 3, "solution": true, "task": false}
def collective_time_s(
    kind: Kind,
    size_bytes: float,
    gpus: int,
    link: Link,
    algorithm: Algorithm = "ring",
    gpus_per_node: int | None = None,
    network: Link | None = None,
) -> float:
    """Seconds that one collective takes when every message of m bytes takes link.latency_s + m / bandwidth.

    The bandwidth, `link.bandwidth_bytes_per_s`, is that of one direction. A GPU sends one message at a time,
    and receives one meanwhile without being slowed down. The additions of a reduction take no time.

    Args:
        kind, size_bytes, gpus, algorithm: as for `collective_bytes`. Step by step:
            ring: an all-gather or a reduce-scatter is gpus − 1 steps, one after the other, in which every GPU
            sends one piece of size_bytes / gpus; an all-reduce is both. An all-to-all is gpus − 1 steps of the
            same piece, to another GPU in each. A broadcast goes down the line in pieces so small that they
            overlap: the tensor's time on one link, and the latency of each of the gpus − 1 links. A send is
            one message.
            tree: at every level one message with all of the tensor; an all-reduce climbs the tree, then comes
            down.
        link: between GPUs that are neighbours; inside a node where there are several nodes.
        gpus_per_node: None: all GPUs hang on `link`. Else nodes of so many GPUs each, and the all-reduce (ring
            only, no other kind) is hierarchical: a reduce-scatter inside each node over `link`; then an
            all-reduce, over `network`, of the piece that a GPU now has with the GPUs of the other nodes that
            have the same piece, all pieces at the same time; then an all-gather inside each node over `link`.
        network: the link of one GPU to its partners in other nodes, which it shares with no other GPU. Needed
            where gpus_per_node is given, and not read otherwise.

    Returns:
        Seconds; 0 for one GPU alone (but for "send").

    Raises:
        ValueError: as `collective_bytes`; gpus_per_node with another kind than "all_reduce", with a tree,
            without a network, or where it does not divide gpus.

    Source: Thakur, Rabenseifner and Gropp 2005, sections 3 and 4 (where the bandwidth is 1/beta and the latency
    alpha).
    """
    ### BEGIN SOLUTION
    _refuse(kind, size_bytes, gpus, algorithm)
    latency, bandwidth = link.latency_s, link.bandwidth_bytes_per_s
    if gpus_per_node is not None:
        if kind != "all_reduce" or algorithm != "ring":
            raise ValueError(f"{kind} by {algorithm}: only an all_reduce by ring is hierarchical here")
        if network is None or gpus_per_node < 1 or gpus % gpus_per_node:
            raise ValueError(f"{gpus} GPUs in nodes of {gpus_per_node} over {network}: this is no hierarchy")
        nodes = gpus // gpus_per_node
        inside = (gpus_per_node - 1) * (latency + size_bytes / gpus_per_node / bandwidth)
        piece = size_bytes / gpus_per_node / nodes
        between = (nodes - 1) * (network.latency_s + piece / network.bandwidth_bytes_per_s)
        return 2 * inside + 2 * between
    whole = latency + size_bytes / bandwidth
    if kind == "send":
        return whole
    passes = 2 if kind == "all_reduce" else 1
    if algorithm == "tree":
        return passes * _levels(gpus) * whole
    if kind == "broadcast":
        return (gpus - 1) * latency + size_bytes / bandwidth if gpus > 1 else 0
    return passes * (gpus - 1) * (latency + size_bytes / gpus / bandwidth)
    ### END SOLUTION
