"""Limits by measurement, in the sandbox: how far above each a worker gets before it ends; `pytest -s` prints it."""

import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.calls.faults import TimedOut
from grader.calls.official import SandboxedRunner, stage_kit
from grader.calls.runner import Request
from grader.kit import find_kit
from grader.sandbox import Limits
from specs.assignment import assignment

pytestmark = pytest.mark.slow

MB = 1_000_000
Start = Callable[..., Any]
TOUCHES = """
import mmap
held = []
while True:
    held.append(mmap.mmap(-1, 4_000_000))
    held[-1].write(b"x" * 4_000_000)
"""


@pytest.mark.parametrize("limit_mb", [256, 512, 1024])
def test_memory_ends_within_a_tenth_above_its_limit(start: Start, limit_mb: int) -> None:
    seen = []
    for _ in range(5):
        reason = start(TOUCHES, "sandbox", Limits(memory_bytes=limit_mb * MB)).killed_because()
        number, unit = re.match(r"memory: ([\d.]+) (MB|GB)", reason).groups()  # type: ignore[union-attr]
        seen.append(float(number) * (1000 if unit == "GB" else 1))
    print(f"memory: limit {limit_mb} MB, ended at {min(seen):.0f} to {max(seen):.0f} MB")
    assert limit_mb * 0.99 <= min(seen)
    assert max(seen) <= limit_mb * 1.1


def test_nine_tenths_of_the_memory_can_be_used(start: Start) -> None:
    code = """
    import mmap
    held = [mmap.mmap(-1, 4_000_000) for _ in range(100)]
    for each in held:
        each.write(b"x" * 4_000_000)
    time.sleep(0.5)
    say("held")
    """
    assert start(code, "sandbox", Limits(memory_bytes=460 * MB)).hear() == "held"


def test_a_call_ends_within_a_second_of_its_limit(tmp_path: Path) -> None:
    (tmp_path / "ada" / "memory").mkdir(parents=True)
    (tmp_path / "ada" / "memory" / "state.py").write_text(
        "def f():\n    pass\n\ndef hangs():\n    while True:\n        pass\n"
    )
    spec = assignment("memory")
    runner = SandboxedRunner(stage_kit(find_kit(), tmp_path), tmp_path / "ada", {"memory": spec}, "sandbox")
    over = []
    for _ in range(4):
        runner.run(Request("memory", "state.py", "f"))  # the worker is there, and its file imported
        began = time.monotonic()
        with pytest.raises(TimedOut):
            runner.run(Request("memory", "state.py", "hangs"))
        over.append(time.monotonic() - began - spec.limits.call_s)
    runner.close()
    print(
        f"wall: ended and cleared {min(over):.2f} to {max(over):.2f} s after the limit of {spec.limits.call_s:g} s"
    )
    assert min(over) >= 0
    assert statistics.median(over) < 1.0


def test_processes_descriptors_disk_and_output_are_what_they_may_be(start: Start) -> None:
    reason = start("fork_for_ever()", "sandbox").killed_because()
    print(f"processes: {reason}")
    count = int(re.match(r"processes: (\d+)", reason)[1])  # type: ignore[index]
    assert Limits().processes < count
    code = """
    opened = 0
    try:
        while True:
            os.open("/dev/null", os.O_RDONLY)
            opened += 1
    except OSError:
        pass
    os.closerange(10, 4096)
    written = 0
    for folder in ("/tmp", "/dev/shm"):
        try:
            with open(folder + "/x", "wb", buffering=0) as file:
                while True:
                    written += file.write(b"x" * (1 << 20))
        except OSError:
            pass
    say([opened, written])
    for _ in range(300):
        os.write(1, b"y" * 4096)
    say("printed")
    stay()
    """
    worker = start(code, "sandbox", Limits(disk_bytes=8 << 20))
    opened, written = worker.hear()
    assert worker.hear() == "printed"
    time.sleep(0.2)
    kept = len(worker.confined.output())
    print(
        f"descriptors: {opened} of {Limits().open_files}; disk: {written / 1e6:.1f} MB of 2 x 8.4; output: {kept} kept"
    )
    assert opened < Limits().open_files
    assert written <= 2 * (8 << 20)
    assert kept <= Limits().output_bytes
