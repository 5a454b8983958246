"""Changes a right GpuShare into a wrong one, for the mistakes about cuts."""

from collections.abc import Sequence
from typing import Any

from specs import CollectiveUse, GpuShare, HeldBytes

_STATE = {"weights": 2, "gradients": 2, "optimizer": 12}


def held(share: GpuShare, *, fewer: float = 0, of: Sequence[str] = tuple(_STATE), **terms: float) -> GpuShare:
    """The share with these bytes held, and the state of `fewer` parameters less in each term in `of`."""
    right = share.held.model_dump()
    changed = {name: right[name] - fewer * _STATE[name] for name in of} if fewer else {}
    return share.model_copy(update={"held": HeldBytes(**(right | changed | terms))})


def named(share: GpuShare, name: str, field: str) -> GpuShare:
    """The share with `name` under `field`, replicated or sharded, and not under the other."""
    names = {each: set(getattr(share, each)) - {name} for each in ("replicated", "sharded")}
    names[field].add(name)
    return share.model_copy(update={each: tuple(sorted(found)) for each, found in names.items()})


def scaled(share: GpuShare, *tensors: str, kind: str = "", count: float = 1, sent: float = 0) -> GpuShare:
    """The share with the collectives of these tensors `count` times as often, with `sent` times the bytes."""
    sent = sent or count

    def change(use: CollectiveUse) -> CollectiveUse:
        if use.tensor not in tensors or (kind and use.kind != kind):
            return use
        update: dict[str, Any] = {"count": round(use.count * count), "sent_bytes": use.sent_bytes * sent}
        return use.model_copy(update=update)

    return share.model_copy(update={"collectives": tuple(map(change, share.collectives))})


def without(share: GpuShare, kind: str, tensor: str) -> GpuShare:
    """The share without one of its collectives."""
    kept = tuple(use for use in share.collectives if (use.kind, use.tensor) != (kind, tensor))
    return share.model_copy(update={"collectives": kept})
