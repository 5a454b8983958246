"""Launches and calls of jit helpers: no warnings of numpy, no second patching of what is patched already."""

from typing import Any

import numpy as np

from . import patches


class _Nothing:
    """A scope that changed nothing."""

    def restore(self) -> None:
        """Nothing to put back."""


class _Launch:
    """What one launch has patched in triton.language, its helpers' share too (which triton never puts back)."""

    def __init__(self) -> None:
        self.languages: set[int] = set()
        self._scopes: list[Any] = []

    def add(self, scope: Any, languages: set[int]) -> None:
        """One more scope of triton's, and the modules that it covers."""
        self._scopes.append(scope)
        self.languages |= languages

    def restore(self) -> None:
        """Put triton.language back."""
        self.languages.clear()
        while self._scopes:
            self._scopes.pop().restore()


def mend(interpreter: Any, tl: Any) -> None:
    """Replace `_patch_lang` and the launch loop of `triton.runtime.interpreter`."""
    launch = _Launch()
    languages = {id(tl), id(tl.core)}

    def _patch_lang(fn: Any) -> Any:
        # Every call of a jit helper, tl.sum and tl.max among them, goes over all of triton.language to patch it
        # again: a quarter of the interpreter's time.
        seen = {id(value) for value in fn.__globals__.values()} & languages
        if seen and seen <= launch.languages:
            return _Nothing()
        launch.add(unmended(fn), seen)
        return launch

    def __call__(self: Any, *args_dev: Any, **kwargs: Any) -> Any:
        # The device gives inf and NaN without a word.
        with np.errstate(all="ignore"):
            return unmended_call(self, *args_dev, **kwargs)

    unmended = patches.replace(interpreter, "_patch_lang", _patch_lang)
    unmended_call = patches.replace(interpreter.GridExecutor, "__call__", __call__)
