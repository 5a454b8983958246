"""Times reading a trace of 200 MB, plain and gzipped, and the memory that it takes, each in a process of its own.

The trace is one of `specs.traces`, with a device and of the CPU alone. Measures; decides nothing.
"""

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from specs.trace_names import Device  # noqa: E402  # found by the line above
from specs.traces import Piece, draw_pieces, make_trace  # noqa: E402  # the same

WANTED_BYTES = 200_000_000
STEPS = 3
CHILD = """
import re, sys, time
from pathlib import Path
from grader.traces.reader import read

def most_kb():  # of this process; ru_maxrss begins with that of the parent
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

before = most_kb()
start = time.process_time()
trace = read(Path(sys.argv[1]))
spent = time.process_time() - start
print(f"{spent:.1f} s, {most_kb() / 1024:.0f} MB resident at most, {before / 1024:.0f} MB before; "
      f"{len(trace.events):,} events kept")
"""


def write(file: TextIO, device: Device) -> None:
    """A trace of WANTED_BYTES or a little more: steps of as many kernels as that takes."""
    # A piece is about four kernels of a device, or two operators: find out what one costs first.
    sample = _steps(device, 20)
    size = len(json.dumps(sample)) / 20
    json.dump(_steps(device, int(WANTED_BYTES / size) + 1), file)


def _steps(device: Device, rounds: int) -> object:
    """Three steps, of `rounds` times the pieces of a drawn one together."""
    pieces: list[list[Piece]] = [[] for _ in range(STEPS)]
    for number in range(rounds):
        drawn = draw_pieces(number, "memory_bound", 2_000_000)
        pieces[number * STEPS // rounds] += [each for each in drawn if device != "cpu" or each.kind != "copy"]
    return make_trace(pieces=pieces, device=device, shuffled=False)[0]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for device in ("cuda", "cpu"):
            plain = Path(folder) / f"{device}.json"
            with plain.open("w", encoding="utf-8") as file:
                write(file, device)
            packed = Path(folder) / f"{device}.json.gz"
            packed.write_bytes(gzip.compress(plain.read_bytes(), compresslevel=1))
            for path in (plain, packed):
                words = [sys.executable, "-c", CHILD, str(path)]
                ran = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
                print(
                    f"{path.name}, {plain.stat().st_size / 1e6:.0f} MB unpacked: {ran.stdout.strip()}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
