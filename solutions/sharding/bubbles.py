# %% [markdown]
# # Cutting the depth: bubbles, activations, schedules
#
# Section 3 of the handout, `README.md`: the formulas and one worked number each.

# %%
"""Pipelines: the bubble over two denominators, activations in flight, and schedules as explicit lists."""

from typing import Literal

from specs import BubbleFraction

Schedule = Literal["gpipe", "1f1b", "interleaved"]
Entry = tuple[float, int, int, Literal["F", "B"]]
"""(time, stage, microbatch, "F" or "B"): when a stage begins the forward or the backward of a microbatch."""


# %% nbgrader={"grade": false, "grade_id": "sharding.bubble_fraction", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bubble_fraction(schedule: Schedule, stages: int, microbatches: int, chunks: int = 1) -> BubbleFraction:
    """How much of a pipeline's step a GPU waits, over two denominators.

    Every stage takes as long as every other, and sends take no time. While the first microbatch comes down and the
    last one's gradients go up, stages wait: `stages - 1` times what one microbatch takes on one stage, forward and
    backward, under GPipe and under 1F1B alike. The interleaved schedule gives every GPU `chunks` smaller stages,
    so it waits `stages - 1` times what one microbatch takes in one chunk.

    Args:
        schedule: "gpipe"; "1f1b", one forward, one backward, without interleaving; or "interleaved" 1F1B.
        stages: GPUs of the pipeline, at least 1.
        microbatches: microbatches of one step, at least 1; under "interleaved" a multiple of `stages`.
        chunks: model chunks of a GPU. Only "interleaved" reads it.

    Returns:
        BubbleFraction(of_total, over_ideal). `of_total` is the waiting over the whole time of the step, the
        waiting included. `over_ideal` is the waiting over the time of the work alone: what Megatron-LM and
        Llama 3 print. Shares: 0.25 is 25 %.

    Source: GPipe (Huang et al. 2019), section 2.3; Megatron-LM (Narayanan et al. 2021), section 2.2.
    """
    ### BEGIN SOLUTION
    work = microbatches * (chunks if schedule == "interleaved" else 1)
    waiting = stages - 1
    return BubbleFraction(of_total=waiting / (work + waiting), over_ideal=waiting / work)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "sharding.pipeline_peak_activations", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pipeline_peak_activations(
    schedule: Literal["gpipe", "1f1b"], stages: int, microbatches: int
) -> list[int]:
    """The most microbatches whose activations each stage holds at one time.

    A stage holds the activations of a microbatch from the start of its forward to the end of its backward there.
    GPipe runs all forwards before any backward. Under 1F1B a stage runs as many forwards as there are stages
    behind it, then one more forward and one backward in turn, then the backwards that are left.

    Args:
        schedule: "gpipe" or "1f1b", without interleaving.
        stages: stages of the pipeline, at least 1; stage 0 is the first.
        microbatches: microbatches of one step, at least 1; there may be fewer than stages.

    Returns:
        A list with one integer a stage, stage 0 first.

    Source: PipeDream-Flush (Narayanan et al. 2021, "Memory-Efficient Pipeline-Parallel DNN Training"), section
    3.2; Megatron-LM (Narayanan et al. 2021), section 2.2.
    """
    ### BEGIN SOLUTION
    if schedule == "gpipe":
        return [microbatches] * stages
    return [min(stages - stage, microbatches) for stage in range(stages)]
    ### END SOLUTION


# %% tags=["instructor"]
def _order(kind: str, stage: int, stages: int, microbatches: int) -> list[tuple[int, Literal["F", "B"]]]:
    """(microbatch, kind of pass) in the order in which a stage runs them."""
    ahead = microbatches if kind == "gpipe" else min(stages - stage - 1, microbatches)
    order: list[tuple[int, Literal["F", "B"]]] = [(index, "F") for index in range(ahead)]
    for index in range(ahead, microbatches):
        order += [(index, "F"), (index - ahead, "B")]
    return order + [(index, "B") for index in range(microbatches - ahead, microbatches)]


# %% nbgrader={"grade": false, "grade_id": "sharding.pipeline_schedule", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pipeline_schedule(
    kind: Literal["gpipe", "1f1b"], stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> list[Entry]:
    """A pipeline schedule, written out: when which stage begins which pass of which microbatch.

    What a schedule must keep to:
    - Every microbatch has one forward "F" and one backward "B" on every stage.
    - A stage runs one pass at a time, and finishes what it has begun: an F takes `forward`, a B `backward`.
    - An F begins when the F of its microbatch on the stage in front has ended, or later; on stage 0 any time
      from 0 on.
    - A B begins when the B of its microbatch on the stage behind has ended; on the last stage, when the
      microbatch's own F there has.
    Sends take no time: what ends at 3 may be used at 3.

    Of the schedules that keep to this, one is wanted that takes no longer than GPipe and 1F1B do,
    (microbatches + stages - 1)·(forward + backward) from time 0 to the end of the last pass, and that holds
    activations as its kind does, each microbatch from the start of its F to the end of its B on that stage:
    - "gpipe": a stage runs all its forwards before its first backward.
    - "1f1b": stage number s never holds more than stages - s microbatches: `stages` on stage 0, and 1 on
      the last.
    The order of microbatches is yours. `grader schedule` draws what you return.

    Args:
        kind: "gpipe" or "1f1b", without interleaving.
        stages: stages of the pipeline, at least 1, counted from 0.
        microbatches: microbatches of one step, at least 1, counted from 0; there may be fewer than stages.
        forward, backward: how long a pass takes on a stage, any positive numbers.

    Returns:
        A list of (time, stage, microbatch, "F" or "B"), in any order: when each pass begins. With one stage and
        one microbatch it is [(0, 0, 0, "F"), (1, 0, 0, "B")].

    Source: GPipe (Huang et al. 2019), figure 2; PipeDream-Flush (Narayanan et al. 2021), section 3.2; Megatron-LM
    (Narayanan et al. 2021), figures 3 and 4.
    """
    ### BEGIN SOLUTION
    left = [_order(kind, stage, stages, microbatches) for stage in range(stages)]
    free = [0.0] * stages  # when a stage has done what it was given so far
    ends: dict[tuple[int, int, str], float] = {}
    entries: list[Entry] = []
    while any(left):
        for stage, order in enumerate(left):
            while order:
                microbatch, what = order[0]
                if what == "F":
                    waits_for = (stage - 1, microbatch, "F") if stage else None
                else:
                    last = stage == stages - 1
                    waits_for = (stage, microbatch, "F") if last else (stage + 1, microbatch, "B")
                if waits_for is not None and waits_for not in ends:
                    break  # another stage's turn first
                start = max(free[stage], ends[waits_for] if waits_for is not None else 0)
                free[stage] = start + (forward if what == "F" else backward)
                ends[stage, microbatch, what] = free[stage]
                entries.append((start, stage, microbatch, what))
                order.pop(0)
    return sorted(entries)
    ### END SOLUTION
