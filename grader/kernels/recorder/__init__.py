"""Calls a student's function with every kernel launch metered and every access judged before it happens."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from . import calls
from .calls import Recorded

__all__ = ["Recorded", "call_recorded", "changed", "install"]


def install() -> None:
    """Mend the interpreter and put the recorder's hooks in place; a second call does nothing.

    Raises RuntimeError where TRITON_INTERPRET=1 is not set, UnsupportedTriton where the interpreter cannot be mended.
    """
    calls.install()


def changed() -> bool:
    """Whether a hook, a mended part of triton or a function of the recorder itself was replaced since `install`."""
    return calls.changed()


def call_recorded(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    sanitize: bool = True,
    may_modify: Collection[str] = (),
    root: str = "",
    given: object = None,
) -> Recorded:
    """`function(*args, **kwargs)` with everything seen that its kernels and its PyTorch operations did.

    What the function raises is returned, not raised; a KernelFault is an access that the sanitizer refused. With
    `sanitize` False only accesses outside a tensor's memory are refused, and nothing else is judged. Arguments named
    in `may_modify` are there to be written to. `root` is the student's folder, resolved, where one is known. `given`
    holds tensors, in tuples, that the caller hands over beside the arguments: gradients of the outputs.
    """
    return calls.call_recorded(
        function, args, kwargs, sanitize=sanitize, may_modify=may_modify, root=root, given=given
    )
