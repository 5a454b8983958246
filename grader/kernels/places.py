"""Which line of the student's source we are at, and in which kernel."""

import linecache
import os
import sys
from pathlib import Path
from types import FrameType, TracebackType

from .evidence import Place

_OURS = str(Path(__file__).resolve().parent) + os.sep
_INTERPRETER = os.path.join("runtime", "interpreter.py")
_PYTHON = os.path.dirname(os.__file__) + os.sep


def of_frame(frame: FrameType | None) -> tuple[Place, str]:
    """The nearest frame outward that is the student's, and the name of the kernel it runs in ("" outside any)."""
    while frame is not None and not is_students(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return Place(), ""
    return line(frame.f_code.co_filename, frame.f_lineno), _kernel_of(frame)


def here() -> tuple[Place, str]:
    """Place and kernel of whoever called into triton, for a fault that is being raised now."""
    return of_frame(sys._getframe(1))


def of_traceback(traceback: TracebackType | None) -> tuple[Place, str]:
    """The same for an exception: the innermost frame of the student's that it passed."""
    found: tuple[Place, str] = (Place(), "")
    while traceback is not None:
        frame = traceback.tb_frame
        if is_students(frame.f_code.co_filename):
            kernel = _kernel_of(frame) or found[1]
            found = line(frame.f_code.co_filename, traceback.tb_lineno), kernel
        traceback = traceback.tb_next
    return found


def a_tensor(traceback: TracebackType | None) -> str:
    """Name of a tensor that the student's innermost function had at hand, "x" where it had none."""
    found = "x"
    while traceback is not None:
        frame = traceback.tb_frame
        if is_students(frame.f_code.co_filename):
            named = [name for name, value in frame.f_locals.items() if hasattr(value, "untyped_storage")]
            found = named[0] if named else found
        traceback = traceback.tb_next
    return found


def line(file: str, number: int) -> Place:
    """A line of a file that Python knows."""
    return Place(file=file, line=number, source=linecache.getline(file, number).strip())


def is_students(file: str) -> bool:
    """Whether a file is neither ours nor a library's nor Python's own."""
    if not file or file.startswith(("<", _OURS, _PYTHON)):
        return False
    return "site-packages" + os.sep not in file and not file.startswith(_library_folders())


def _library_folders() -> tuple[str, ...]:
    # By where they were imported from: a student's own folder may be called triton.
    files = [getattr(sys.modules.get(name), "__file__", None) for name in ("triton", "torch", "numpy")]
    return tuple(os.path.dirname(file) + os.sep for file in files if file)


def _kernel_of(frame: FrameType | None) -> str:
    """The outermost function that triton's grid loop called: helpers have it above them."""
    while frame is not None and frame.f_back is not None:
        above = frame.f_back.f_code
        # Helpers are called by the __call__ of another class.
        in_loop = above.co_name == "__call__" and "args_dev" in above.co_varnames
        if in_loop and above.co_filename.endswith(_INTERPRETER):
            return frame.f_code.co_name
        frame = frame.f_back
    return ""
