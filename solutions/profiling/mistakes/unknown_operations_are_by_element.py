"""An operation without a rule is counted by element."""

from specs import Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right
from ._operations import is_matmul

EXERCISE = "kernel_efficiency"
HINT = (
    "What an operation without a rule costs is not known: say so with a ValueError instead of a "
    "number that nobody can check."
)
FAILS = ("test_an_unknown_operation_raises",)
SYMPTOMS = ("accepts an operation without a rule",)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    known = is_matmul(event) or event["name"] in ("aten::add", "aten::mul", "aten::gelu", "aten::silu")
    return right(event if known else {**event, "name": "aten::add"}, gpu)
