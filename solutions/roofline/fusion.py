# %% [markdown]
# # Fusing a chain, and launching it
#
# Section 5 of the handout, `README.md`: the formulas and one worked number each.

# %%
"""What a chain of kernels costs apart and fused, and whether the device or the host sets its pace."""

from collections.abc import Sequence

from specs import Cost, FusedCost, LaunchTimes, Op


# %% nbgrader={"grade": false, "grade_id": "roofline.fused_cost", "locked": false, "schema_version": 3, "solution": true, "task": false}
def fused_cost(ops: Sequence[Op], keep: Sequence[str] = ()) -> FusedCost:
    """Cost of a chain of operations as one kernel each, and fused into a single kernel.

    Args:
        ops: the operations in the order in which they run. `op.reads` and `op.writes` give the bytes of the
            tensors that an op touches, by name. One name is one tensor, with the same bytes in every op. An
            op reads before it writes: a name in both its `reads` and `writes` is updated in place.
        keep: names of tensors that somebody outside wants too, as the backward pass does. Names that the
            chain does not write change nothing.

    Returns:
        FusedCost(before, after), two Costs:
        - before: all that each op reads and writes, op by op.
        - after: the same FLOPs. Read once: every tensor that an op reads before any op of the chain has
          written it, however many ops read it. Written once: every tensor that the chain writes and that is
          either in `keep`, or not read by any op after the last that writes it. Nothing else moves: a
          tensor that one op writes and a later one reads stays on the chip, next neighbours or not; in
          `keep` it is written, and still not read back.

    Source: Data Movement Is All You Need (Ivanov et al. 2021), on operator fusion.
    """
    ### BEGIN SOLUTION
    before = Cost(
        flops=sum(op.flops for op in ops),
        bytes_read=sum(sum(op.reads.values()) for op in ops),
        bytes_written=sum(sum(op.writes.values()) for op in ops),
    )
    inputs: dict[str, int | float] = {}
    written: dict[str, int | float] = {}
    read_since: set[str] = set()
    for op in ops:
        for name, size in op.reads.items():
            if name in written:
                read_since.add(name)
            else:
                inputs[name] = size
        written |= op.writes
        read_since -= op.writes.keys()
    outputs = [size for name, size in written.items() if name in keep or name not in read_since]
    after = Cost(flops=before.flops, bytes_read=sum(inputs.values()), bytes_written=sum(outputs))
    return FusedCost(before=before, after=after)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "roofline.launch_bound", "locked": false, "schema_version": 3, "solution": true, "task": false}
def launch_bound(kernel_s: Sequence[float], launch_s: float, graph_launch_s: float) -> LaunchTimes:
    """Time of a chain of kernels when the host launches each, and when one CUDA graph holds them all.

    Args:
        kernel_s: seconds that each kernel takes on the device, in order; at least one kernel.
        launch_s: seconds that the host takes to launch one kernel. It does not wait for the device: it starts
            at time 0 and launches one kernel right after the other, so launch i of 0, 1, ... is done at
            (i + 1)·launch_s.
        graph_launch_s: seconds that launching the whole graph takes.

    Returns:
        LaunchTimes, in seconds from time 0:
        - device_s: the kernels alone, one after the other;
        - eager_s: when the last kernel ends. Kernel i starts as soon as its launch is done and kernel i - 1
          has ended, whichever is later;
        - graph_s: the launch of the graph, and then the kernels one after the other without a gap;
        - bound: "launch" if the device ever waits for a launch after its first kernel has started, else
          "device". A launch that is done at the very moment at which the kernel before it ends costs no
          waiting.

    Source: PyTorch's blog, Accelerating PyTorch with CUDA Graphs (2021).
    """
    ### BEGIN SOLUTION
    device_s = sum(kernel_s)
    end_s = launch_s
    waits = False
    for index, duration_s in enumerate(kernel_s):
        launched_s = (index + 1) * launch_s
        waits = waits or launched_s > end_s
        end_s = max(end_s, launched_s) + duration_s
    return LaunchTimes(
        device_s=device_s,
        eager_s=end_s,
        graph_s=graph_launch_s + device_s,
        bound="launch" if waits else "device",
    )
    ### END SOLUTION
