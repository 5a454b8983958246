"""Chains of kernels: what fusing them saves, and who waits for whom when they are launched."""

from collections.abc import Sequence

from specs import Cost, FusedCost, LaunchTimes, Op


def fused_cost(ops: Sequence[Op], keep: Sequence[str] = ()) -> FusedCost:
    flops = read = written = 0
    for op in ops:
        flops += op.flops
        read += sum(op.reads.values())
        written += sum(op.writes.values())

    from_outside = {}
    last_write = {}
    last_read = {}
    size = {}
    for i, op in enumerate(ops):
        for name in op.reads:
            if name not in last_write:
                from_outside[name] = op.reads[name]
            last_read[name] = i
        for name in op.writes:
            last_write[name] = i
            size[name] = op.writes[name]
    to_outside = 0
    for name, i in last_write.items():
        used_up = last_read.get(name, -1) > i
        if name in keep or not used_up:
            to_outside += size[name]
    return FusedCost(
        before=Cost(flops=flops, bytes_read=read, bytes_written=written),
        after=Cost(flops=flops, bytes_read=sum(from_outside.values()), bytes_written=to_outside),
    )


def launch_bound(kernel_s: Sequence[float], launch_s: float, graph_launch_s: float) -> LaunchTimes:
    busy = sum(kernel_s)
    bound = "device"
    host = launch_s
    free_at = launch_s + kernel_s[0]
    for kernel in kernel_s[1:]:
        host += launch_s
        if host > free_at:
            bound = "launch"
            free_at = host
        free_at += kernel
    return LaunchTimes(device_s=busy, eager_s=free_at, graph_s=graph_launch_s + busy, bound=bound)
