"""Hidden checks of pipeline.py: other stages, micro-batches and schedules.

The comparison and its tolerance are those of the visible checks.
"""

from itertools import pairwise

import pytest

from grader.checks import piped
from kernels_ref.shards.training import batch, matrices


def one_f_one_b(stages, micro_batches):
    """1F1B: a stage warms up with as many forwards as stages come behind it, then takes turns; times by simulation."""
    orders = []
    for stage in range(stages):
        warm = min(stages - 1 - stage, micro_batches)
        order = [("F", m) for m in range(warm)]
        for m in range(micro_batches - warm):
            order += [("F", warm + m), ("B", m)]
        order += [("B", m) for m in range(micro_batches - warm, micro_batches)]
        orders.append(order)
    done, schedule, time = {}, [], 0
    while any(orders):
        now = []
        for stage, order in enumerate(orders):
            if not order:
                continue
            direction, m = order[0]
            needed = ("F", stage - 1, m) if direction == "F" else ("B", stage + 1, m)
            outside = stage == 0 if direction == "F" else stage == stages - 1
            if outside or done.get(needed, time) < time:
                now.append((direction, stage, m))
        for direction, stage, m in now:
            orders[stage].pop(0)
            done[direction, stage, m] = time
            schedule.append((time, stage, m, direction))
        time += 1
    return schedule


def gpipe(stages, micro_batches, last_first):
    """All forward passes, then all backward passes, in the same order or in the opposite one."""
    there = [(m + s, s, m, "F") for s in range(stages) for m in range(micro_batches)]
    end = stages + micro_batches - 1
    place = {m: micro_batches - 1 - m if last_first else m for m in range(micro_batches)}
    back = [(end + place[m] + stages - 1 - s, s, m, "B") for s in range(stages) for m in range(micro_batches)]
    return there + back


def drawn(rng, stages, micro_batches):
    """Stages of one or two layers, and micro-batches for them."""
    sizes = [rng.randint(2, 7) for _ in range(stages + 1)]
    middle = rng.randint(2, 7)
    shapes = [[(a, middle), (middle, b)] if rng.random() < 0.5 else [(a, b)] for a, b in pairwise(sizes)]
    examples = rng.randint(1, 3)
    return (
        [matrices(rng.getrandbits(32), *own) for own in shapes],
        [batch(rng.getrandbits(32), examples, sizes[0], sizes[-1]) for _ in range(micro_batches)],
    )


@pytest.mark.exercise("sharding.run_pipeline", weight=3)
def test_any_pipeline_of_gpipe(submission, expect, rng):
    """Two to four stages, backward in the order of forward and in the opposite one."""
    for last_first in (False, True):
        stages, micro_batches = rng.randint(2, 4), rng.randint(3, 5)
        schedule = gpipe(stages, micro_batches, last_first)
        rng.shuffle(schedule)
        of_stages, batches = drawn(rng, stages, micro_batches)
        piped.pipeline_step(submission, expect, "GPipe", of_stages, schedule, batches)


@pytest.mark.exercise("sharding.run_pipeline", weight=2)
def test_any_one_forward_one_backward(submission, expect, rng):
    """1F1B on three or four stages with more micro-batches than stages."""
    stages = rng.randint(3, 4)
    micro_batches = stages + rng.randint(1, 3)
    schedule = one_f_one_b(stages, micro_batches)
    rng.shuffle(schedule)
    of_stages, batches = drawn(rng, stages, micro_batches)
    piped.pipeline_step(submission, expect, "1F1B", of_stages, schedule, batches)
