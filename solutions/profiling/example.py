"""The traces that the handout works out and draws: one step by hand, and a published one from its totals."""

from specs import Event, KernelClass

STEP_US = 1000
# By row of the picture: (class or annotation, start, end) in microseconds.
ROWS: dict[str, list[tuple[str, int, int]]] = {
    "CPU": [("loader", 0, 180)],
    "stream 3": [("copy", 60, 120)],
    "stream 7": [
        ("matmul", 150, 400),
        ("attention", 400, 520),
        ("memory_bound", 520, 600),
        ("matmul", 600, 800),
    ],
    "stream 24": [("communication", 480, 900)],
}
NAMES: dict[KernelClass, str] = {
    "matmul": "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT",
    "attention": "flash_fwd_kernel",
    "memory_bound": "vectorized_elementwise_kernel",
    "copy": "Memcpy HtoD (Pinned -> Device)",
    "communication": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
}
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
DEEPEP = "void dpsk::ep::internode::dispatch"


def event(cat: str, name: str, start_us: float, end_us: float, tid: int = 1) -> Event:
    """A complete event."""
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": 0,
        "tid": tid,
        "ts": start_us,
        "dur": end_us - start_us,
        "args": {},
    }


def one_step() -> list[Event]:
    """A step of 1 ms, as ROWS lays it out."""
    found = [event("user_annotation", "ProfilerStep#7", 0, STEP_US)]
    for row, runs in ROWS.items():
        for name, start, end in runs:
            if name == "loader":
                found.append(event("user_annotation", LOADER, start, end))
            else:
                cat = "gpu_memcpy" if name == "copy" else "kernel"
                stream = int(row.removeprefix("stream "))
                found.append(event(cat, NAMES[name], start, end, stream))  # type: ignore[index]  # a class
    return found


def deepseek() -> list[Event]:
    """DeepSeek's published training trace, laid out anew from what is published of it (specs/published/trace.yaml)."""
    compute, communication, exposed, idle, span = 124_338, 113_030, 4_162, 497, 129_012
    begin = compute + exposed - communication
    copies = span - idle - compute - exposed
    return [
        event("user_annotation", "ProfilerStep#1", 0, span),
        event("kernel", "m_grouped_fp8_ptp128c", 0, compute, 7),
        event("kernel", DEEPEP, begin, begin + communication, 24),
        event(
            "gpu_memcpy", "Memcpy DtoD (Device -> Device)", compute + exposed, compute + exposed + copies, 3
        ),
    ]
