"""Changes a right list of ops into a wrong one, for the mistakes about a step."""

from collections.abc import Callable, Sequence

from specs import Cost, OpCost


def with_cost(ops: Sequence[OpCost], change: Callable[[OpCost], dict[str, float]]) -> list[OpCost]:
    """The ops with the terms of their cost that `change` returns; an empty dict leaves an op as it is."""
    return [op.model_copy(update={"cost": Cost(**(op.cost.model_dump() | change(op)))}) for op in ops]


def without(ops: Sequence[OpCost], *names: str) -> list[OpCost]:
    """The ops but for those of these names."""
    return [op for op in ops if op.name not in names]
