"""Calls the student's function on some of the ranks, in a group of their own; the others do nothing."""

from collections.abc import Sequence
from typing import Any

import torch.distributed as dist


def run(student: Any, group: Any, first: Any, *rest: Any, members: Sequence[int]) -> tuple[Any, Any]:
    """(`student(first, *rest, group=the group of members)`, `first` afterwards); (None, None) on other ranks."""
    own = dist.new_group(list(members))
    if dist.get_rank() not in members:
        return None, None
    result = student(first, *rest, group=own)
    return result, first
