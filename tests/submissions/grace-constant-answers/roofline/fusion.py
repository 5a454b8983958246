from specs import Cost, FusedCost, LaunchTimes


def fused_cost(ops, keep=()):
    return FusedCost(
        before=Cost(flops=10_000, bytes_read=8_050, bytes_written=6_000),
        after=Cost(flops=10_000, bytes_read=4_050, bytes_written=2_000),
    )


def launch_bound(kernel_s, launch_s, graph_launch_s):
    return LaunchTimes(device_s=200e-6, eager_s=502e-6, graph_s=210e-6, bound="launch")
