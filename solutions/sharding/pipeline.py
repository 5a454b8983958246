# %% [markdown]
# # A schedule on running ranks
#
# Section 10 of the handout: each rank holds one stage, activations go forward, gradients come back.

# %%
"""Pipeline parallel training: one stage a rank, driven by a schedule."""

from collections.abc import Callable, Sequence
from typing import Literal

import torch
import torch.distributed as dist
from torch import Tensor, nn

Step = tuple[float, int, int, Literal["F", "B"]]
"""(time, stage, micro-batch, forward or backward)"""


# %% nbgrader={"grade": false, "grade_id": "sharding.run_pipeline", "locked": false, "schema_version": 3, "solution": true, "task": false}
def run_pipeline(
    stage: nn.Module,
    schedule: Sequence[Step],
    inputs: Sequence[Tensor],
    targets: Sequence[Tensor],
    loss: Callable[[Tensor, Tensor], Tensor],
    input_shape: Sequence[int],
    group: dist.ProcessGroup | None = None,
) -> float | None:
    """Run one training step of a pipeline; this rank is one stage of it, stage = rank.

    The rank does its own steps of the schedule in the order of their times, and no step of another stage. A
    forward step receives the activations from the stage before (the first stage takes inputs[m] instead), runs
    the stage, and sends the output to the next one. A backward step receives the gradient of the output from the
    next stage (the last stage takes that of its loss instead), goes backward, and sends the gradient of the input
    to the stage before. Nothing else is communicated, and each in a message of its own.

    Afterwards the gradients of the stage's parameters are those of the whole model for the mean over the
    micro-batches of `loss`; all micro-batches have equally many examples. Activations are fp32.

    A send waits until the other side receives. In 1F1B two neighbours may send to each other at one time, each
    before it receives: with `dist.send` both wait for ever. Use `dist.isend`, keep what it returns together with
    the tensor, and wait for all of them at the end.

    Args:
        stage: this rank's part of the model; called with one tensor, it returns one. `.grad` of its parameters is
            None before.
        schedule: (time, stage, micro-batch, "F" or "B") of all stages, in any order of the list; each
            micro-batch goes forward and backward through every stage once. At one time a stage has one step.
        inputs: the micro-batches' inputs; all ranks get them, the first stage uses them.
        targets: the micro-batches' targets; all ranks get them, the last stage uses them.
        loss: (output of the last stage, targets[m]) to a scalar, the mean over the micro-batch's examples.
        input_shape: shape of what this stage takes for one micro-batch, the examples first.
        group: the stages, None for all ranks. There may be one.

    Returns:
        The mean loss over the micro-batches on the last stage, as a float; None on the others.

    Source: Huang et al. 2019 (GPipe, arXiv 1811.06965), section 2.3; Narayanan et al. 2019 (PipeDream), section 3.2.
    """
    ### BEGIN SOLUTION
    rank, last = dist.get_rank(group), dist.get_world_size(group) - 1
    alive: dict[int, tuple[Tensor, Tensor]] = {}
    """Input and output (on the last stage the loss) of each micro-batch that waits for its backward."""
    sent = []
    losses = []
    for _, _, micro_batch, direction in sorted(step for step in schedule if step[1] == rank):
        if direction == "F":
            if rank == 0:
                x = inputs[micro_batch]
            else:
                x = torch.empty(tuple(input_shape))
                dist.recv(x, group=group, group_src=rank - 1)
                x.requires_grad_()
            y = stage(x)
            if rank == last:
                y = loss(y, targets[micro_batch]) / len(inputs)
                losses.append(float(y))
            else:
                message = y.detach().contiguous()
                sent.append((dist.isend(message, group=group, group_dst=rank + 1), message))
            alive[micro_batch] = x, y
        else:
            x, y = alive.pop(micro_batch)
            gradient = None
            if rank != last:
                gradient = torch.empty_like(y)
                dist.recv(gradient, group=group, group_src=rank + 1)
            y.backward(gradient)
            if rank > 0:
                message = x.grad.contiguous()
                sent.append((dist.isend(message, group=group, group_dst=rank - 1), message))
    for work, _ in sent:
        work.wait()
    return sum(losses) if rank == last else None
    ### END SOLUTION
