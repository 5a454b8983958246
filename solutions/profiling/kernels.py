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

# %% tags=["instructor"]
_COMMUNICATION = re.compile(
    r"nccl|rccl|msccl|nvshmem|rocshmem|_on_stream_kernel|gloo:|c10d::|userbuffers|multimem|quickreduce"
    r"|ep::(inter|intra)node|cross_device_reduce|memcpy ptop"
    r"|all_?reduce|reduce_?scatter|all_?gather|all_?to_?all",
    re.IGNORECASE,
)
_COPY = re.compile(r"^(memcpy|memset)\b", re.IGNORECASE)
# Inductor's prefixes say what a kernel is; behind them stand all ops that it was fused from.
_INDUCTOR_LOOP = re.compile(r"^triton_(poi|per|red|for)_")
_BESIDE_ATTENTION = re.compile(r"reshape_and_cache|concat_and_cache|rotary|_rope|rope_", re.IGNORECASE)
_ATTENTION = re.compile(
    r"flash_?(fwd|bwd|attn|attention|mla|fprop|bprop|infer)|fmha|sdpa|attention|attn_(fwd|bwd)"
    r"|(batch|single)_?(prefill|decode)|\bmla_",
    re.IGNORECASE,
)
_MATMUL = re.compile(
    r"gemm|gemv|nvjet|^cijk_|cutlass|cublas|splitk|wgmma|convolve|convolution|fprop|dgrad|wgrad"
    r"|winograd|conv(_depthwise)?\dd|marlin|fused_moe_kernel|m_grouped_fp8|triton_tem_fused_\w*mm|^mm_kernel|matmul"
    r"|^aten::_?(scaled_|grouped_|int_|sparse_)?(add|b|badd)*(mm|mv)_?$"
    r"|^aten::(linear|matmul|einsum|dot|\w*conv\w*)$|::_?(mkl_)?linear|linear_pointwise",
    re.IGNORECASE,
)


# %% nbgrader={"grade": false, "grade_id": "profiling.classify_kernel", "locked": false, "schema_version": 3, "solution": true, "task": false}
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
    ### BEGIN SOLUTION
    if "Collective name" in (args or {}):
        return "communication"
    if _INDUCTOR_LOOP.match(name):
        return "memory_bound"
    if _COMMUNICATION.search(name):
        return "communication"
    if _COPY.match(name):
        return "copy"
    if _BESIDE_ATTENTION.search(name):
        return "memory_bound"
    if _ATTENTION.search(name):
        return "attention"
    if _MATMUL.search(name):
        return "matmul"
    return "memory_bound"
    ### END SOLUTION
