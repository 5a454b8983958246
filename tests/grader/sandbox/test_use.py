"""What a worker may use: memory, processes, time, disk, output."""

from collections.abc import Callable
from typing import Any

import pytest

from grader.sandbox import Level, Limits

Start = Callable[..., Any]
MB = 1_000_000


def test_each_writable_folder_has_its_size(start: Start) -> None:
    worker = start(
        """
        def fill(folder):
            written = 0
            try:
                for number in range(100):
                    with open(f"{folder}/{number}", "wb", buffering=0) as file:
                        written += file.write(bytes(1_000_000))
            except OSError:
                return written
        say([fill("/tmp"), fill("/dev/shm")])
        """,
        limits=Limits(disk_bytes=8 * MB),
    )
    tmp, shm = worker.hear()
    assert 7 * MB <= tmp <= 8.1 * MB
    assert 7 * MB <= shm <= 8.1 * MB


MANY_FILES = """
for number in range(100_000):
    open(os.environ["HOME"] + f"/{number}", "w").close()
stay()
"""


def test_many_empty_files_end_the_worker(start: Start, level: Level) -> None:
    assert start(MANY_FILES, level, Limits(files=500)).killed_because() == "files: more than 500"


def test_a_full_temporary_folder_ends_the_worker_outside_the_sandbox(start: Start) -> None:
    code = """
    for number in range(20):
        open(os.environ["HOME"] + f"/{number}", "wb").write(bytes(1_000_000))
    stay()
    """
    assert start(code, "process", Limits(disk_bytes=5 * MB)).killed_because().startswith("disk: ")


def test_one_large_file_is_refused(start: Start, level: Level) -> None:
    code = """
    file = open(os.environ["HOME"] + "/large", "wb", buffering=0)
    def write():
        for _ in range(9):
            file.write(bytes(1_000_000))
    say(error_of(write))
    """
    assert start(code, level, Limits(disk_bytes=8 * MB)).hear() in ("EFBIG", "ENOSPC")


def test_a_memory_bomb_ends_with_its_size(start: Start, level: Level) -> None:
    code = """
    held = []
    while True:
        held.append(bytearray(b"x") * 4_000_000)
    """
    reason = start(code, level, Limits(memory_bytes=150 * MB)).killed_because()
    assert reason.startswith("memory: ")
    assert reason.endswith(", limit 150 MB")


def test_memory_counts_over_all_processes(start: Start, level: Level) -> None:
    code = """
    for _ in range(5):
        if os.fork() == 0:
            held = bytearray(b"x") * 40_000_000
            stay()
    stay()
    """
    assert start(code, level, Limits(memory_bytes=150 * MB)).killed_because().startswith("memory: ")


def test_memory_shared_by_forked_ranks_counts_once(start: Start, level: Level) -> None:
    code = """
    held = bytearray(b"x") * 80_000_000
    for _ in range(4):
        if os.fork() == 0:
            stay()
    say("forked")
    stay()
    """
    worker = start(code, level, Limits(memory_bytes=200 * MB))
    assert worker.hear() == "forked"
    assert worker.confined.wait(0.2) is None


def test_a_huge_allocation_fails_in_the_worker(start: Start, level: Level) -> None:
    code = """
    try:
        bytearray(8 << 30)
    except MemoryError:
        say("refused")
    """
    assert start(code, level).hear() == "refused"


def test_a_fork_bomb_ends_with_its_size(start: Start, level: Level) -> None:
    reason = start("fork_for_ever()", level).killed_because()
    assert reason.startswith("processes: ")
    assert reason.endswith(", limit 32")


def test_a_chain_of_short_lives_is_a_fork_bomb_outside_the_sandbox(start: Start) -> None:
    # Inside, bwrap's process 1 buries the dead at once and the chain costs nobody anything but its own time.
    code = """
    for _ in range(2):
        if os.fork() == 0:
            os.setsid()
            for _ in range(5000):
                if os.fork():
                    os._exit(0)
            os._exit(0)
    stay()
    """
    assert start(code, "process").killed_because().startswith("processes: ")


def test_a_thread_bomb_ends_with_its_size(start: Start, level: Level) -> None:
    code = """
    threading.stack_size(65536)
    for _ in range(400):
        threading.Thread(target=stay, daemon=True).start()
    stay()
    """
    assert start(code, level, Limits(threads=100)).killed_because().startswith("threads: ")


def test_processor_time_counts_over_all_processes(start: Start, level: Level) -> None:
    code = """
    for _ in range(3):
        os.fork()
    while True: pass
    """
    assert start(code, level, Limits(cpu_s=1)).killed_because().startswith("CPU time: ")


def test_a_noisy_worker_neither_waits_nor_fills_the_judge(start: Start, level: Level) -> None:
    code = """
    for _ in range(400):
        os.write(1, b"noise" * 20_000)
    os.write(2, b"the end")
    """
    worker = start(code, level, Limits(output_bytes=1000))
    assert worker.confined.wait(10) == 0
    assert worker.confined.output().endswith("noisethe end")
    assert len(worker.confined.output()) == 1000


def test_output_that_is_no_text_is_shown_anyhow(start: Start, level: Level) -> None:
    worker = start(r"os.write(1, b'\xff\xfe caf\xc3\xa9')", level)
    worker.confined.wait(5)
    assert worker.confined.output() == "\ufffd\ufffd café"


def test_leaked_descriptors_run_out_in_the_worker(start: Start, level: Level) -> None:
    code = """
    held = []
    def leak():
        while True:
            held.append(os.open("/dev/null", 0))
    say([error_of(leak), len(held) < 128])
    """
    assert start(code, level).hear() == ["EMFILE", True]


def test_limits_must_be_positive() -> None:
    with pytest.raises(ValueError, match="limit processes is 0"):
        Limits(processes=0)
