"""The H100 report: a submission's own launches, cross-compiled on a machine that has no GPU.

Needs a process in which TRITON_INTERPRET was not set when triton was imported.
"""

from .call import CompiledCall, changed, compile_call
from .device import stand_in_device
from .machine_code import Assembled, ToolError, assemble
from .targets import TARGETS, Target, UnknownTarget, target_named

__all__ = [
    "TARGETS",
    "Assembled",
    "CompiledCall",
    "Target",
    "ToolError",
    "UnknownTarget",
    "assemble",
    "changed",
    "compile_call",
    "stand_in_device",
    "target_named",
]
