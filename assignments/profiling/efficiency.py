# %% [markdown]
# # Against the roofline
#
# Section 5 of the handout, `README.md`: a run's MFU and one kernel's efficiency, measured by a trace.

# %%
"""What a trace shows against what the card could do: MFU of its steps, efficiency of one operation."""

import math
from collections.abc import Sequence

from specs import DTYPE_BYTES, DType, Event, Gpu, KernelEfficiency, TracedModel

RECORDED_DTYPES: dict[str, DType] = {
    "float": "fp32",
    "c10::Half": "fp16",
    "c10::BFloat16": "bf16",
    "c10::Float8_e4m3fn": "fp8",
}
"""Formats by the name that the profiler's "Input type" has for them; what is not among them is no tensor of these."""


# %%
def achieved_mfu(events: Sequence[Event], model: TracedModel, gpu: Gpu, dtype: DType) -> float:
    """The model FLOPs utilisation that a trace shows.

    Args:
        events: of one rank's trace. Its steps are the complete events `ProfilerStep#N` with `cat`
            "user_annotation"; `ts` and `dur` in microseconds. At least one step.
        model: what a step trains on this GPU.
        gpu: the card.
        dtype: format of the matmuls.

    Returns:
        A share: 0.5 is 50 %. Model FLOPs are those of PaLM's convention, 6 · parameters + 12 · layers · hidden ·
        sequence for each token, forward and backward, without recomputation. The time is that of the clock on the
        wall, from the start of the first step to the end of the last.

    Source: PaLM (Chowdhery et al. 2022), section 4.1 and appendix B.
    """
    raise NotImplementedError("write me")


# %%
def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    """One operation against its roof, from the shapes that `record_shapes=True` wrote down.

    Args:
        event: `dur` is the time that the operation took, in microseconds. `name` is one of
            - `aten::mm` (m, k) × (k, n), `aten::bmm` (b, m, k) × (b, k, n);
            - `aten::addmm`: a bias or matrix that is added, then (m, k) × (k, n);
            - `aten::add`, `aten::mul`, `aten::gelu`, `aten::silu`: by element, the inputs broadcast.
            `args["Input Dims"]` has the shape of each argument, `args["Input type"]` its type: RECORDED_DTYPES
            has those of tensors. Any other type is no tensor, as "Scalar" and "", and its shape means nothing. A
            tensor of shape [] is one element. All tensors of an event have one format.
        gpu: the card.

    Returns:
        KernelEfficiency(flops, bytes_moved, roofline_s, efficiency):
        - flops: 2 · m · n · k for each matrix of the batch, and 1 for each element that `addmm` adds; 1 for each
          element of the result of the operations by element, as if each of them were one.
        - bytes_moved: each input tensor read once, as it is before broadcasting; the result written once.
        - roofline_s: the longer of flops over the card's peak in that format and bytes_moved over its bandwidth.
        - efficiency: roofline_s over the measured time.

    Raises:
        ValueError: an operation of another name.

    Source: Williams et al. 2009, the roofline model; the profiler's `record_shapes`.
    """
    raise NotImplementedError("write me")
