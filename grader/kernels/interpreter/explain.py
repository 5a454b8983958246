"""What an exception out of a student's function means, in words that the student can act on."""

import linecache
import re
import traceback
from types import TracebackType

from .. import places
from ..evidence import Finding, Place
from ..faults import KernelFault, NeedsGpu, UnsupportedTriton

# Texts of torch and triton where something asks for a CUDA device that is not there.
_NO_DEVICE = (
    "not compiled with CUDA",
    "Found no NVIDIA driver",
    "No CUDA GPUs are available",
    "no CUDA-capable device",
    "CUDA driver initialization failed",
    "Cannot access accelerator device",
    "active drivers",
    "device type of CUDA",
    "'cuda' device",
    "cuda tensor",
)
# A student's own refusal, by its words.
_WANTS_CUDA = re.compile(
    r"\bcuda\b.*\b(tensors?|devices?|gpus?|available|required|only)\b"
    r"|\b(on|needs?|requires?|expected|must be) (a )?cuda\b",
    re.IGNORECASE,
)
_MOVE = "use device={tensor}.device: the tensors of a check may live on any device"
_COMPARE = "drop it, or compare devices with each other: the tensors of a check may live on any device"


def explain(error: BaseException) -> BaseException | None:
    """What to report instead of `error`; None where it speaks for itself.

    An InterpreterError of triton becomes the error inside the kernel, whose traceback ends at the student's line:
    the NotImplementedError of a stub stays one. A call that wants a CUDA device becomes a KernelFault
    ("cuda_only"); one that triton's interpreter lacks becomes NeedsGpu.
    """
    for cause in _causes(error):
        if isinstance(cause, KernelFault | NeedsGpu | UnsupportedTriton):
            return cause if cause is not error else None
    root = _inside_kernel(error)
    place, kernel = places.of_traceback(root.__traceback__)
    found = _cuda_only(root, place, kernel) or _not_interpreted(root, place)
    if found is not None:
        found.__cause__ = root
        return found
    return root if root is not error else None


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in found:
        found.append(following)
        following = following.__cause__ or following.__context__
    return found


def _inside_kernel(error: BaseException) -> BaseException:
    """Helpers called from a kernel wrap once more each."""
    while type(error).__name__ == "InterpreterError" and error.__cause__ is not None:
        notes = getattr(error, "__notes__", [])
        error = error.__cause__
        for note in notes:
            if note not in getattr(error, "__notes__", []):
                error.add_note(note)
    return error


def _cuda_only(error: BaseException, place: Place, kernel: str) -> KernelFault | None:
    text = str(error)
    by_student = _raised_by_student(error.__traceback__)
    if by_student and not isinstance(error, NotImplementedError):
        # An assertion's text may be empty: its line says what it asks.
        asserts = isinstance(error, AssertionError) and "cuda" in _statement(error.__traceback__).lower()
        if asserts or _WANTS_CUDA.search(text):
            message = f"`{place.source}` refuses tensors that are not on a CUDA device; {_COMPARE}"
            return _fault(message, place, kernel)
    if any(known in text for known in _NO_DEVICE) and not by_student:
        move = _MOVE.format(tensor=places.a_tensor(error.__traceback__))
        message = f"`{place.source}` asks for a CUDA device, and there is none here; {move}"
        return _fault(message, place, kernel)
    return None


def _fault(message: str, place: Place, kernel: str) -> KernelFault:
    return KernelFault(Finding(kind="cuda_only", kernel=kernel, place=place, message=message))


def _not_interpreted(error: BaseException, place: Place) -> NeedsGpu | None:
    """Triton's own "not supported in interpreter mode", and what its interpreter has no method for."""
    lacks = isinstance(error, AttributeError) and "InterpreterBuilder" in str(error)
    refuses = isinstance(error, NotImplementedError) and not _raised_by_student(error.__traceback__)
    if not (lacks or refuses) or not place.line:
        return None
    what = str(error).rpartition("attribute ")[2] if lacks else str(error)
    return NeedsGpu(
        f"triton's interpreter cannot run this, only a GPU can ({what}): line {place.line}: {place.source}"
    )


def _statement(traceback_: TracebackType | None) -> str:
    """All lines of the expression that raised: an assertion may be written over several."""
    while traceback_ is not None and traceback_.tb_next is not None:
        traceback_ = traceback_.tb_next
    if traceback_ is None:
        return ""
    code = traceback_.tb_frame.f_code
    first, last, *_ = list(code.co_positions())[traceback_.tb_lasti // 2]
    lines = range(first or traceback_.tb_lineno, (last or traceback_.tb_lineno) + 1)
    return " ".join(linecache.getline(code.co_filename, number) for number in lines)


def _raised_by_student(traceback_: TracebackType | None) -> bool:
    frames = [frame for frame, _ in traceback.walk_tb(traceback_)]
    return bool(frames) and places.is_students(frames[-1].f_code.co_filename)
