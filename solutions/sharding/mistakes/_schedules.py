"""Times for an order of passes, with switches for the usual mistakes; for the mistakes about schedules."""

from collections.abc import Callable

Order = list[tuple[int, str]]


def one_forward_one_backward(ahead: Callable[[int], int], stages: int, microbatches: int) -> list[Order]:
    """By stage, (microbatch, "F" or "B") in order: `ahead(stage)` forwards, then one and one, then the rest."""
    orders = []
    for stage in range(stages):
        first = max(0, min(ahead(stage), microbatches))
        order = [(index, "F") for index in range(first)]
        for index in range(first, microbatches):
            order += [(index, "F"), (index - first, "B")]
        orders.append(order + [(index, "B") for index in range(microbatches - first, microbatches)])
    return orders


def all_forwards_first(stages: int, microbatches: int) -> list[Order]:
    """By stage, GPipe's order."""
    return one_forward_one_backward(lambda stage: microbatches, stages, microbatches)


def timed(orders: list[Order], forward: float, backward: float) -> list[tuple[float, int, int, str]]:
    """Each pass as early as its stage and what it waits for allow."""
    left, stages = [list(order) for order in orders], len(orders)
    free, ends = [0.0] * stages, dict[tuple[int, int, str], float]()
    entries = []
    while any(left):
        for stage, order in enumerate(left):
            while order:
                index, what = order[0]
                if what == "F":
                    before = (stage - 1, index, "F")
                else:
                    before = (stage, index, "F") if stage == stages - 1 else (stage + 1, index, "B")
                if before[0] >= 0 and before not in ends:
                    break
                start = max(free[stage], ends.get(before, 0.0))
                free[stage] = ends[stage, index, what] = start + (forward if what == "F" else backward)
                entries.append((start, stage, index, what))
                order.pop(0)
    return sorted(entries)
