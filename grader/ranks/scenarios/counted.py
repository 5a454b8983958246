"""Calls the student's function and counts the FLOPs of the matrix products that the rank makes in it."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_FIRST_FACTOR = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1}
"""Which argument of the operation is the left factor; the right one follows it."""


class _Products(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    """torch.utils.flop_counter does the same and takes seconds to import: four ranks would do that at once."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or the first operation imports all of torch._dynamo, 3 s in every rank

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.flops = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = func.overloadpacket.__name__
        if name in _FIRST_FACTOR:
            left, right = args[_FIRST_FACTOR[name] :][:2]
            self.flops += 2 * left.numel() * right.shape[-1]
        elif name.startswith("_scaled_dot_product"):
            query, key = args[:2]
            self.flops += 4 * query.numel() * key.shape[-2]
        return func(*args, **(kwargs or {}))


def run(student: Any, group: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """`student(*args, group=group, **kwargs)`.

    Returns:
        value: what came back; matmul_flops: 2 for each multiplication and addition, elementwise work left out.
    """
    with torch.no_grad(), _Products() as counter:
        value = student(*args, group=group, **kwargs)
    return {"value": value, "matmul_flops": counter.flops}
