"""Times the H100 report on a FlashAttention forward: first kernel of a process, another kernel, and again.

Run without TRITON_INTERPRET; prints wall time and CPU time of this process and its tools. Measures; decides nothing.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def timed(label: str, work: Callable[[], Any]) -> Any:
    before, start = spent(), time.perf_counter()
    found = work()
    wall, cpu = time.perf_counter() - start, spent() - before
    print(f"{label:34} {wall:7.3f} s wall {cpu:7.3f} s CPU")
    return found


def spent() -> float:
    """CPU seconds of this process and the children it has waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def imports() -> tuple[Any, Any]:
    from grader.kernels import compiled
    from tests.kernels import compiled_kernels

    return compiled, compiled_kernels


def main() -> None:
    compiled, kernels = timed("import torch, triton, the kernels", imports)
    q = kernels.tensor(2, 512, 128)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)

        def report(D: int) -> Any:
            x = q[..., :D].contiguous()
            return compiled.compile_call(kernels.attention, (x, x, x), cache=cache)

        timed("first kernel, 128 wide", lambda: report(128))
        timed("another kernel, 64 wide", lambda: report(64))
        call = timed("again, 128 wide", lambda: report(128))
        timed("again, 64 wide", lambda: report(64))
        timed("assemble its PTX, as the judge does", lambda: compiled.assemble(call.launches[0].ptx))


if __name__ == "__main__":
    main()
