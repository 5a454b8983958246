# %% [markdown]
# # What a kernel does, by its name
#
# Section 1 of the handout, `README.md`: the five classes, and the names that mislead.

# %%
"""Which of five classes a kernel belongs to, by the name that a trace gives it."""

import re
from collections.abc import Mapping
from typing import Any

from specs import KernelClass


# %%
def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> KernelClass:
    """The class of one kernel, memory copy or operator of a trace.

    - "communication": whatever moves data between GPUs. NCCL, RCCL and MSCCL; NVSHMEM, whose kernels end in
      `_on_stream_kernel`; DeepEP's dispatch and combine; the one-shot and two-shot all-reduces of vLLM,
      TensorRT-LLM and PyTorch's symmetric memory; gloo's collectives; every kernel whose args have a
      "Collective name"; `Memcpy PtoP`, from GPU to GPU.
    - "copy": every other `Memcpy` and `Memset`, whatever it copies. A kernel that only copies is no "copy":
      it runs on the cores, and could be fused.
    - "attention": kernels that compute attention as one, forward or backward, their small helpers included.
      A softmax by itself is none of them, nor is what rotates queries and keys, or writes them to a cache.
    - "matmul": matrix products, grouped ones and convolutions included, whatever is fused onto them; the
      kernel that adds up the parts of a split product; a matrix times a vector.
    - "memory_bound": everything else, and every name that says nothing.

    Args:
        name: as in the trace, mangled or not, with or without template arguments. It may also be the name of
            an operator, `aten::mm`, as in a trace without a device.
        args: of the event; may be missing.

    Returns:
        The class.

    Source: the names that the libraries give to their kernels; for `triton_poi`, `triton_per`, `triton_red`
    and `triton_tem`, PyTorch's TorchInductor and GPU profiling tutorial.
    """
    raise NotImplementedError("write me")
