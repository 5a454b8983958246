"""The two numbered lists that the cases bring to life: what must earn nothing, and what is odd and must pass."""

ATTACKS: dict[int, tuple[str, tuple[str, ...]]] = {
    1: ("exits with code 0, at import or in a call", ("exit_zero", "raises_exit")),
    2: ("writes frames to every open descriptor", ("fd_spray",)),
    3: ("prints a perfect report", ("stdout_forge",)),
    4: ("rewrites results at exit, or later", ("atexit_overwrite",)),
    5: ("ships files that pytest or Python pick up", ("conftest_drop", "lookalike_files")),
    6: ("patches pytest and unittest.mock", ("pytest_patch",)),
    7: ("replaces the grader's modules", ("module_shadow", "environment_patch")),
    8: ("returns what runs code when it is unpickled", ("pickle_reply",)),
    9: ("returns what equals everything", ("eq_true",)),
    10: ("returns tensors that compute or lie", ("tensor_subclass",)),
    11: ("floods the wire, or breaks its form", ("frame_flood", "trickle")),
    12: ("returns NaN, Inf, nothing, other shapes and types", ("nan_wildcard", "odd_numbers", "half_right")),
    13: ("reads callers' locals", ("frame_walk", "trace_spy", "native_patch")),
    14: ("searches gc for the answer", ("gc_steal",)),
    15: ("reads and writes other processes", ("ppid_proc",)),
    16: ("opens solutions, tests, neighbours, home", ("read_solution",)),
    17: ("talks to the outside, installs packages", ("network", "pip_install")),
    18: ("keys answers by public seeds and names", ("seed_precompute",)),
    19: ("is right for what is published only", ("shape_table", "published_table")),
    20: ("returns memory that it never wrote", ("recycled_memory", "no_attention")),
    21: ("lets the library do it behind a decoy", ("library_call",)),
    22: ("falls back to the library in silence", ("try_fallback",)),
    23: ("returns zeros, or the mean of V", ("no_attention",)),
    24: ("drops the tail, the rescale or the maximum", ("drop_tail", "no_rescale")),
    25: ("writes T × T and calls it flash", ("materialise",)),
    26: ("computes in a lower precision", ("low_precision",)),
    27: ("changes its inputs", ("input_mutation", "no_attention")),
    33: ("forges the meter or the recorder", ("meter_patch", "recorder_patch", "probe_patch")),
    35: (
        "uses up processes, memory, disk, descriptors",
        ("fork_bomb", "memory_bomb", "disk_fill", "descriptor_leak", "cpu_hog", "exhaust_judge"),
    ),
    36: ("hangs, or leaves children behind", ("hang", "blocks_signals", "outlives", "odd_ranks")),
    37: (
        "crashes or raises what nobody catches",
        ("segfault", "raises_exit", "hostile_exception", "odd_source"),
    ),
    38: (
        "hands in bombs, links, devices, heaps of files",
        (
            "zip_bomb",
            "path_traversal",
            "links_out",
            "special_file",
            "heap_of_files",
            "strange_names",
            "unreadable_zip",
        ),
    ),
}
"""Number to what it tries and the cases that show it. The rest are in TIMED."""

HONEST: dict[int, tuple[str, tuple[str, ...]]] = {
    1: ("an autotuner with many configurations", ("honest_autotune",)),
    2: ("workspaces cached by shape", ("honest_split_keys",)),
    3: ("split keys and a combine kernel", ("honest_split_keys",)),
    4: ("a persistent kernel with an atomic counter", ("honest_persistent",)),
    5: ("exp2 with log2 e in the scale", ("honest_split_keys", "honest_autotune", "honest_persistent")),
    7: ("a real fallback, `pass`, a cache, a joined thread", ("honest_fallback", "honest_processes")),
    8: ("odd stages and warps, descriptors, inline PTX, padding", ("honest_persistent", "honest_autotune")),
    9: ("noise on stdout and stderr", ("honest_noise",)),
    10: ("helpers beside the stub, numpy scalars", ("honest_helpers", "honest_numbers", "honest_tensors")),
    12: ("Windows line ends, a mark, tabs, a main block", ("honest_text", "honest_layouts")),
}

TIMED: dict[str, dict[int, tuple[str, tuple[str, ...]]]] = {
    "attack": {
        28: ("patches the clock", ("timer_patch", "cuda_clock_patch")),
        29: ("returns before the work is done", ("side_stream", "cuda_side_stream")),
        30: ("memoises by address, content or call", ("cached_answers",)),
        31: ("does all the work in the first timed call", ("batch_skip",)),
        32: ("changes once timing starts", ("warmup_sleeper",)),
        34: ("says done and goes on writing", ("early_done",)),
    },
    "honest": {
        6: ("a joined side stream", ("honest_on_the_clock", "cuda_joined_stream")),
        11: ("faster than the baseline", ("honest_on_the_clock",)),
    },
}
"""What is about the clock: the cases are in `clock_cases` and `gpu_cases`, with tests of their own."""


def numbers_of(case: str, honest: bool) -> tuple[int, ...]:
    """The numbers that a case brings to life; none for one that goes beyond the lists."""
    return tuple(number for number, (_, cases) in (HONEST if honest else ATTACKS).items() if case in cases)
