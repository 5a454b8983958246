"""`grader doctor`: what this machine can do for the kit, and the remedy for what it cannot."""

import importlib.metadata
import importlib.util
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

import grader
from grader.commands.doctor_gpu import gpu_lines
from grader.kit import KitNotFound, find_kit
from grader.sandbox import available

_PYTHON = (3, 11)
_INSTALL_KERNELS = "pip install -e '.[kernels]'"
_KERNEL = """
import torch, triton, triton.language as tl

@triton.jit
def double(x, y, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(y + i, tl.load(x + i) * 2)

x = torch.arange(16, dtype=torch.bfloat16); y = torch.zeros_like(x)
"""
_INTERPRETER_PROBE = f"""
import os
os.environ["TRITON_INTERPRET"] = "1"
{_KERNEL}
from grader.kernels import interpreter
interpreter.install()
double[(1,)](x, y, 16)
assert torch.equal(y, 2 * x)
print("ok")
"""
_COMPILER_PROBE = f"""
{_KERNEL}
from grader.kernels.compiled import compile_call
done = compile_call(lambda: double[(1,)](x, y, 16), ())
if done.error:
    raise done.error
assert all(launch.compiles for launch in done.launches), done.launches[0].message
print("ok")
"""
_RANK = """
import os, sys
os.environ["GLOO_SOCKET_IFNAME"] = "lo" if sys.platform.startswith("linux") else "lo0"
import torch, torch.distributed as dist
store = dist.FileStore(sys.argv[2], 2)
dist.init_process_group("gloo", store=store, rank=int(sys.argv[1]), world_size=2)
x = torch.ones(3)
dist.all_reduce(x)
assert x.tolist() == [2, 2, 2], x
"""
_RANKS_PROBE = f"""
import subprocess, sys, tempfile
with tempfile.TemporaryDirectory() as folder:
    command = [sys.executable, "-c", {_RANK!r}]
    ranks = [subprocess.Popen([*command, str(rank), folder + "/store"]) for rank in range(2)]
    if not any([rank.wait() for rank in ranks]):
        print("ok")
"""


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's: what was looked at, whether it is well, what to do where it is not."""

    what: str
    well: bool
    text: str
    needed: bool = False
    """True when the kit does not work without it."""


def run(console: Console) -> int:
    """Print every finding; exit code 1 when something that everybody needs is missing."""
    findings = [
        _python(),
        _kit(),
        *map(_library, ("pytest", "numpy", "pydantic")),
        _torch(),
        _triton(),
        _interpreter(),
        _compiler(),
        _ranks(),
        sandbox(),
        *(Finding(*line) for line in gpu_lines()),
    ]
    for finding in findings:
        mark, style = ("ok", "green") if finding.well else ("missing", "red" if finding.needed else "yellow")
        line = Text(f"  {finding.what:<12} ")
        line.append(f"{mark:<8}", style=style)
        line.append(f" {finding.text}")
        console.print(line)
    return 1 if any(finding.needed and not finding.well for finding in findings) else 0


def _python() -> Finding:
    well = sys.version_info >= _PYTHON
    text = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    return Finding("python", well, text if well else f"{text}; Python 3.11 or later is needed", needed=True)


def _kit() -> Finding:
    try:
        kit = find_kit()
    except KitNotFound as error:
        return Finding("kit", False, str(error), needed=True)
    kind = "with solutions" if kit.has_solutions else "a student's bundle"
    return Finding(
        "kit", True, f"rooflab {grader.__version__}, {kind}, assignments: {', '.join(kit.available())}"
    )


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _library(name: str) -> Finding:
    version = _version(name)
    return Finding(name, version is not None, version or f"pip install {name}", needed=True)


def _torch() -> Finding:
    version = _version("torch")
    if version is None:
        return Finding("torch", False, f"the exercises in PyTorch and Triton need it: {_INSTALL_KERNELS}")
    return Finding("torch", True, version)


def _triton() -> Finding:
    version = _version("triton")
    if version is None:
        how = _INSTALL_KERNELS if sys.platform.startswith("linux") else "needs Linux"
        return Finding("triton", False, f"the exercises in Triton need it: {how}")
    known = version.split(".")[:2] in (["3", "6"], ["3", "7"], ["3", "8"])
    return Finding("triton", known, version if known else f"{version} is untested, this kit knows 3.6 to 3.8")


def _interpreter() -> Finding:
    return _kernel_probe(
        "interpreter", _INTERPRETER_PROBE, "triton, mended, runs a small bf16 kernel on the CPU"
    )


def _compiler() -> Finding:
    return _kernel_probe("compiler", _COMPILER_PROBE, "triton compiles a small kernel for an H100 (sm_90)")


def _ranks() -> Finding:
    if not sys.platform.startswith("linux"):
        return Finding(
            "ranks", False, "the exercises on ranks need Linux or macOS: WSL, a container or Colab will do"
        )
    if importlib.util.find_spec("torch") is None:
        return Finding("ranks", False, "needs torch")
    return _probe(
        "ranks", _RANKS_PROBE, "gloo joins two processes over the loopback device", "two ranks do not meet"
    )


def _kernel_probe(what: str, source: str, well: str) -> Finding:
    """Run a script that ends with `ok` where kernels can be worked with in one of the two ways."""
    if importlib.util.find_spec("triton") is None or importlib.util.find_spec("torch") is None:
        return Finding(what, False, "needs torch and triton")
    return _probe(what, source, well, "a small kernel fails")


def _probe(what: str, source: str, well: str, ill: str) -> Finding:
    """What a script finds that prints `ok` at its end where all is well."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    # From a file: triton reads a kernel's source with inspect, which finds none for `python -c` before 3.13.
    with tempfile.TemporaryDirectory(prefix="rooflab-doctor-") as folder:
        probe = Path(folder) / "probe.py"
        probe.write_text(source, encoding="utf-8")
        try:
            done = subprocess.run(
                [sys.executable, str(probe)], capture_output=True, text=True, timeout=120, env=environment
            )
        except subprocess.TimeoutExpired:
            return Finding(what, False, f"{ill}: no answer in 120 s")
    if done.stdout.strip() == "ok":
        return Finding(what, True, well)
    last = (done.stderr.strip().splitlines() or ["no output"])[-1]
    return Finding(what, False, f"{ill}: {last[:200]}")


def sandbox() -> Finding:
    """Whether submissions can be graded in the sandbox here, and the remedy where not."""
    state = available()
    if state.ok:
        return Finding("sandbox", True, f"bubblewrap starts ({os.path.basename(state.bwrap or 'bwrap')})")
    return Finding("sandbox", False, f"{state.reason}; {state.remedy} (only `grader grade` needs it)")
