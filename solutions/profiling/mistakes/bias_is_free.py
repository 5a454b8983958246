"""The addition of addmm costs neither FLOPs nor bytes."""

from specs import Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right

EXERCISE = "kernel_efficiency"
HINT = (
    "addmm adds its first argument to the product: one addition for each element of the result, and "
    "the bias is read."
)
FAILS = (
    "test_one_row_is_held_against_the_bandwidth",
    "test_any_matmul",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    if event["name"] != "aten::addmm":
        return right(event, gpu)
    args = event["args"]
    without = {key: args[key][1:3] for key in ("Input Dims", "Input type")}
    return right({**event, "name": "aten::mm", "args": without}, gpu)
