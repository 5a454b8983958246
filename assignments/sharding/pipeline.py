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


# %%
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
    raise NotImplementedError("write me")
