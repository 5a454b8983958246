"""The student's frame below which a PyTorch operation was called, and what a tensor is called in it."""

import inspect
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

import torch

_KIT = str(Path(__file__).resolve().parents[2])
_LIBRARIES = tuple(
    {str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)


@lru_cache(maxsize=4096)
def _is_students(file: str, root: str) -> bool:
    if file.startswith("<"):
        return False
    path = Path(file).resolve()
    if root:
        return path.is_relative_to(root)
    if {"site-packages", "dist-packages"} & set(path.parts):
        return False
    return not any(path.is_relative_to(folder) for folder in (_KIT, *_LIBRARIES))


def student_frame(root: str = "") -> FrameType | None:
    """The innermost frame of a file under `root`; with no root, of a file that is no library's and not the kit's.

    None where no such frame is on the stack: a backward that autograd runs for the caller, say.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_students(frame.f_code.co_filename, root):
        frame = frame.f_back
    return frame


def locals_of(frame: FrameType) -> dict[str, Any]:
    """The frame's local variables, without keeping them alive.

    Before Python 3.13 `f_locals` is a snapshot that the frame holds on to: a tensor that the function deletes
    later would live to the function's end, and count as a temporary until then.
    """
    snapshot = frame.f_locals
    values = dict(snapshot)
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        snapshot.clear()
    return values


def name_in(frame: FrameType | None, tensor: torch.Tensor) -> str:
    """The local variable of the frame that holds this view, the same elements in the same order; else empty."""
    if frame is None:
        return ""
    for name, value in locals_of(frame).items():
        # Exact types only: a subclass could run the student's code from here.
        if value is tensor or (type(value) is torch.Tensor and _same_view(value, tensor)):
            return name
    return ""


def _same_view(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.layout is not torch.strided or one.device != other.device or one.device.type == "meta":
        return False
    same = one.shape == other.shape and one.stride() == other.stride() and one.dtype == other.dtype
    return same and one.data_ptr() == other.data_ptr()
