"""What a submission may use: memory, processes, disk, descriptors, CPU time, output."""

import json
from dataclasses import dataclass, fields

# Above the watchdog's own CPU limit, so that the watchdog, which gives a reason, comes first.
_CPU_BACKSTOP_S = 10


@dataclass(frozen=True)
class Limits:
    """Limits of one worker and all the processes that it starts.

    The defaults fit numpy, torch and triton imported and two dozen forked ranks: with torch and triton a
    process has 0.3 GB resident and 0.9 GB of address space.

    Raises:
        ValueError: a limit is not positive.
    """

    memory_bytes: int = 1 << 30
    """Resident memory of the whole tree; pages shared by forked processes count once."""
    processes: int = 32
    threads: int = 512
    disk_bytes: int = 64 << 20
    """What may be written: to each of /tmp and /dev/shm in the sandbox, to the temporary folder outside."""
    files: int = 10_000
    """Files, folders and links there. Empty ones cost the host memory too, about 1 kB each."""
    open_files: int = 128
    """Descriptors of one process."""
    cpu_s: int = 120
    """CPU seconds of the whole tree over its life, on all cores together."""
    output_bytes: int = 64 << 10
    """How much of the end of stdout and stderr is kept; the rest is read and thrown away."""
    address_space_headroom_bytes: int | None = 2 << 30
    """Address space of one process above `memory_bytes`; None: no such limit (CUDA reserves terabytes)."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and value <= 0:
                raise ValueError(f"limit {field.name} is {value}: expected a positive number")

    def worker_json(self, judge_pid: int | None) -> str:
        """The limits that the worker puts on itself, as `grader/worker/limits.py` reads them.

        `judge_pid` is set where the worker itself must see to it that it dies with the judge.
        """
        headroom = self.address_space_headroom_bytes
        return json.dumps(
            {
                "address_space_bytes": None if headroom is None else self.memory_bytes + headroom,
                "cpu_s": self.cpu_s + _CPU_BACKSTOP_S,
                "file_bytes": self.disk_bytes,
                "open_files": self.open_files,
                "judge_pid": judge_pid,
            }
        )
