"""Kernels as they were written: names that their modules took from triton before it was mended, and plain arguments."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from . import patches


def mend(interpreter: Any, replaced: list[tuple[Callable[..., Any], Callable[..., Any]]]) -> None:
    """Replace `InterpretedFunction.rewrite` and `_implicit_cvt`; `replaced` holds functions, the old and the new."""
    tl = interpreter.tl
    # Globals may be unhashable, so by id; `replaced` keeps the old ones alive and their ids theirs.
    new = {id(old): function for old, function in replaced}

    def rewrite(self: Any) -> Any:
        if type(self.rewritten_fn) is not dict or type(self.fn) is not FunctionType:
            raise TypeError("@triton.jit stands above something that is no plain function")
        if self.fn not in self.rewritten_fn:
            # `from triton.language.extra.cuda.libdevice import tanh`, in a module imported before.
            names = self.fn.__globals__
            for name, value in list(names.items()):
                if id(value) in new and any(value is old for old, _ in replaced):
                    names[name] = new[id(value)]
        return unmended_rewrite(self)

    def _implicit_cvt(arg: Any) -> Any:
        # 3.7 makes a 32-bit integer of a bool and then refuses it as one of a single bit.
        if isinstance(arg, bool):
            return tl.tensor(interpreter.TensorHandle(np.array([arg]), tl.int1), tl.int1)
        return unmended_cvt(arg)

    unmended_rewrite = patches.replace(interpreter.InterpretedFunction, "rewrite", rewrite)
    unmended_cvt = patches.replace(interpreter, "_implicit_cvt", _implicit_cvt)
