"""Triton's interpreter, mended in this process so that it computes what an H100 would."""

import importlib
import os

from ..faults import UnsupportedTriton
from . import autotune, dots, libdevice, memory, patches, ptx, reductions, refusals, scopes, sources, values
from .autotune import current_config
from .explain import explain

__all__ = ["SUPPORTED", "changed", "current_config", "explain", "install"]

SUPPORTED = "triton 3.7.1 or 3.8"

_installed = False


def install() -> None:
    """Mend triton's interpreter in this process; a second call does nothing.

    Raises RuntimeError where TRITON_INTERPRET=1 was not set before triton was imported, UnsupportedTriton where
    something to mend is missing or the self-test fails.
    """
    global _installed
    if _installed:
        return
    if os.environ.get("TRITON_INTERPRET") != "1":
        raise RuntimeError(
            "the interpreter needs TRITON_INTERPRET=1 in the environment before triton is imported"
        )
    try:
        tl = importlib.import_module("triton.language")
        interpreter = importlib.import_module("triton.runtime.interpreter")
        autotuner = importlib.import_module("triton.runtime.autotuner")
        ir = importlib.import_module("triton._C.libtriton").ir
    except ImportError as error:
        raise UnsupportedTriton(f"triton cannot be imported ({error}); {patches.REMEDY}") from error
    if not isinstance(tl.sum, interpreter.InterpretedFunction):
        raise RuntimeError(
            "TRITON_INTERPRET=1 was set after triton was imported: set it before the process starts"
        )
    values.mend(interpreter, tl, ir)
    memory.mend(interpreter)
    reductions.mend(interpreter)
    dots.mend(interpreter, tl, ir)
    refusals.mend(interpreter)
    scopes.mend(interpreter, tl)
    ptx.mend(interpreter)
    sources.mend(interpreter, libdevice.mend(interpreter))
    autotune.mend(autotuner, interpreter.InterpreterError)
    importlib.import_module(".selftest", __name__).check()
    _installed = True


def changed() -> bool:
    """Whether anything that `install` put in place has been replaced since."""
    return patches.changed()
