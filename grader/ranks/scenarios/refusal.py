"""Builds a student's nn.Module, calls it, and tells whether it refused with a ValueError."""

from collections.abc import Sequence
from typing import Any

import torch


def run(student: Any, group: Any, x: torch.Tensor, *, init: Sequence[Any]) -> dict[str, Any]:
    """`student(*init, group=group)(x)`, which should raise a ValueError.

    Returns:
        kind: what is wrong with the class, "" if nothing is; raised: whether a ValueError came; message: its length.
    """
    try:
        layer = student(*init, group=group)
        if not isinstance(layer, torch.nn.Module):
            kind = f"the class makes a {type(layer).__name__}, not an nn.Module"
            return {"kind": kind, "raised": False, "message": 0}
        layer(x)
    except ValueError as error:
        return {"kind": "", "raised": True, "message": len(str(error))}
    return {"kind": "", "raised": False, "message": 0}
