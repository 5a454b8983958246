"""The list of what we replaced in triton, so that a replacement of ours that was itself replaced is noticed."""

from typing import Any

from ..faults import UnsupportedTriton

REMEDY = "install one that is supported: pip install triton==3.7.1"

_expected: dict[tuple[int, str], tuple[Any, str, Any, Any]] = {}


def current(owner: Any, name: str) -> Any:
    """What `owner.name` is now, as it is stored; raises UnsupportedTriton where the installed triton has none."""
    for holder in getattr(owner, "__mro__", (owner,)):
        if name in vars(holder):
            return vars(holder)[name]
    import triton

    label = getattr(owner, "__name__", repr(owner))
    raise UnsupportedTriton(f"triton {triton.__version__} has no {label}.{name} to mend; {REMEDY}")


def replace(owner: Any, name: str, value: Any) -> Any:
    """Put `value` at `owner.name` and remember it; whoever wraps a method of the builder goes through here too.

    Returns what was there. Raises UnsupportedTriton where nothing was.
    """
    before = current(owner, name)
    add(owner, name, value)
    return before


def add(owner: Any, name: str, value: Any) -> None:
    """Like `replace`, for a name that triton may lack."""
    setattr(owner, name, value)
    _expected[id(owner), name] = (owner, name, value, getattr(value, "__code__", None))


def changed() -> bool:
    """Whether anything that `replace` or `add` put in place is no longer there, or has other code."""
    return any(
        vars(owner).get(name) is not value or getattr(value, "__code__", None) is not code
        for owner, name, value, code in _expected.values()
    )
