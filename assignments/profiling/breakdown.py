# %% [markdown]
# # Where a step's time goes
#
# Section 3 of the handout, `README.md`: the order of the classes, exposed communication, two kinds of idle time.

# %%
"""A profiler step by its parts, which sum to its duration."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite

from specs import DEVICE_CATEGORIES, Event, KernelClass, StepBreakdown

from .intervals import Interval, union
from .kernels import classify_kernel


# %%
def step_breakdown(
    events: Sequence[Event], kinds: Mapping[str, KernelClass] | None = None
) -> list[StepBreakdown]:
    """Where the time of each profiler step went.

    A step is the interval of the annotation `ProfilerStep#N` on the CPU (`cat` "user_annotation"; its twin
    "gpu_user_annotation" is neither a step nor work). What the device does in that interval counts, cut off at
    both ends, whichever step launched it. At each instant of it the first of these that holds gets the time:

    1. matmul, attention, memory_bound, copy, in this order: such work runs on the device, on any stream;
    2. exposed_communication: nothing but communication runs;
    3. idle_data: nothing runs, and the CPU is in the data loader, in an annotation `enumerate(DataLoader)#...__next__`
       (`cat` "user_annotation" or "cpu_op");
    4. idle_host: nothing runs.

    So the parts sum to the duration, to the nanosecond. overlapped_communication is the time in which
    communication and something of 1. run at once; it is no part of the sum.

    A trace without any device work is one of the CPU alone, and its operators are the kernels: each "cpu_op" whose
    name has a namespace (`aten::mm`, `mkl::_mkl_linear`, `gloo:all_reduce`) other than `autograd`, `torch` and
    `c10d`, whose nodes only call operators. Each counts with its self time: its interval without those of the
    operators of the same `pid` and `tid` that lie in it. What the loader runs inside its annotation is the
    loader's: it is idle_data.

    Args:
        events: of one rank's trace, in any order and as in `busy_intervals`; broken ones do not count.
        kinds: the class of each kernel, copy or operator by its name. Names that it lacks, or all without it, are
            classed by `classify_kernel`.

    Returns:
        A StepBreakdown for each step, by N; none if there is no step. All fields but `step` in seconds.

    Source: Holistic Trace Analysis (PyTorch), temporal and overlap breakdown, whose classes are coarser.
    """
    raise NotImplementedError("write me")
