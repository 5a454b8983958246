"""One call of a function that launches no kernel: what PyTorch did, as far as it can be seen. Needs no triton."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from .evidence import CallEvidence
from .recorder.ledger import Ledger
from .recorder.outcome import storages
from .recorder.torch_side import TorchSide


def call_watched(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    may_modify: Collection[str] = (),
    root: str = "",
) -> tuple[Any, CallEvidence, bool]:
    """`function(*args, **kwargs)`, what PyTorch did meanwhile, and whether the watch was left alone.

    What the function raises goes through. `may_modify` and `root` are those of `recorder.call_recorded`.
    """
    try:
        named = dict(inspect.signature(function).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):  # it tells no signature, or raises at once
        named = {"args": tuple(args), **kwargs}
    side = TorchSide(Ledger(), dict(storages(named)), may_write=may_modify, root=root)
    with side:
        value = function(*args, **kwargs)
    work = side.finish(value)
    return value, CallEvidence(torch=work, findings=tuple(side.findings)), side.intact
