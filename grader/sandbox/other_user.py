"""The level for containers without user namespaces: the judge is root, the worker another user who can read little.

The worker gets a user of its own that owns nothing, copies of the kit's part and of the submission that it can read,
and a home that is removed afterwards. It sees the machine's file system as any other user does, its network, and the
names of its processes: what must not be read has to be closed to others, and `exposed` says where it is not.
"""

import contextlib
import errno
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.printable import printable_path
from grader.sandbox import bubblewrap

# Above the users that systems give out, below 65534 (nobody), within the 65,536 that a container usually has.
UIDS = range(40_000, 60_000)
# Where everybody may write, on Linux: what the worker leaves there is removed.
_SHARED_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - cleared of one user's files, and what is made there is made new
_MOST_LOOKED_AT = 200_000
NAMED, _JUDGE = "rooflab-user-", "judge"


@dataclass(frozen=True)
class Quarters:
    """Where a worker of another user lives: folders that only it and root can read."""

    uid: int
    root: Path
    kit: Path
    submission: Path
    home: Path

    def clear(self) -> None:
        """Remove the folders, and what the user has left where everybody may write."""
        shutil.rmtree(self.root, ignore_errors=True)
        for folder in map(Path, _SHARED_FOLDERS):
            for path in _entries(folder):
                with contextlib.suppress(OSError):
                    if path.lstat().st_uid == self.uid:
                        _remove(path)


def why_not() -> str:
    """Why a worker cannot run as another user here, with the remedy, in one line; "" where it can."""
    if not sys.platform.startswith("linux"):
        return f"another user needs Linux, this is {sys.platform}"
    if os.geteuid() != 0:
        return "the judge must be root to start a worker as another user: run it as root in a container"
    for path in (bubblewrap.interpreter(), bubblewrap.site_packages()):
        if not all(_open_to_others(each, stat.S_IXOTH) for each in (path, *path.parents)):
            return (
                f"{printable_path(path)} cannot be reached by another user: install Python and the virtual "
                "environment outside of root's home"
            )
    return ""


def exposed(secrets: Iterable[Path], needed: Iterable[Path] = ()) -> str:
    """What of `secrets` any other user could read, with the remedy, in one line; "" where nothing.

    `needed` are folders below a secret that the worker has to read: the libraries, the interpreter. Permission bits are
    what is looked at; an access control list can open more.
    """
    allowed = {Path(os.path.realpath(path)) for path in (Path(sys.prefix), Path(sys.base_prefix), *needed)}
    of_the_kit = [bubblewrap.site_packages() / name for name in bubblewrap.KIT_PACKAGES]
    for secret in (*secrets, *of_the_kit):
        top = Path(os.path.realpath(secret))
        if not all(_open_to_others(parent, stat.S_IXOTH) for parent in top.parents):
            continue
        found = _first_readable(top, allowed)
        if found is not None:
            return (
                f"{printable_path(found)} can be read by every user, so by a submission too: "
                f"`chmod -R go-rwx {printable_path(top)}`, or keep it below a folder of mode 700, with the virtual "
                "environment elsewhere"
            )
    return ""


def move_in(kit: Path, submission: Path) -> Quarters:
    """Copy what the worker needs to where only it and root can read; `Quarters.clear` removes it.

    Raises:
        OSError: this process is not root, or the disk is full.
    """
    _clear_of_dead_judges()
    uid, root = _reserved()
    quarters = Quarters(uid, root, root / "kit", root / "submission", root / "home")
    try:
        shutil.copytree(kit, quarters.kit, symlinks=True)
        shutil.copytree(submission, quarters.submission, symlinks=True)
        quarters.home.mkdir()
        for path in (root, *root.rglob("*")):
            os.lchown(path, 0, uid)
            if not path.is_symlink():
                os.chmod(path, 0o750 if path.is_dir() else 0o640)
        os.chown(quarters.home, uid, uid)
        os.chmod(quarters.home, 0o700)
    except BaseException:
        quarters.clear()
        raise
    return quarters


def _reserved() -> tuple[int, Path]:
    """A user that no process has, and a folder named after it: who makes the folder has the user.

    Not in TMPDIR, which lies in the judge's own folder where no other user gets to.
    """
    taken = set()
    for path in _entries(Path("/proc")):
        with contextlib.suppress(OSError):  # it ended meanwhile
            taken.add(path.stat().st_uid)
    for step in range(len(UIDS)):
        uid = UIDS[(os.getpid() + step) % len(UIDS)]
        root = Path(_SHARED_FOLDERS[0], f"{NAMED}{uid}")
        if uid not in taken:
            with contextlib.suppress(FileExistsError):
                root.mkdir(mode=0o700)
                (root / _JUDGE).write_text(str(os.getpid()))
                return uid, root
    raise OSError(errno.EUSERS, "no user is free for a worker")


def _clear_of_dead_judges() -> None:
    """Remove what judges left that were killed; their workers died with them."""
    for root in Path(_SHARED_FOLDERS[0]).glob(f"{NAMED}*"):
        with contextlib.suppress(OSError, ValueError):
            if root.lstat().st_uid == 0 and not Path("/proc", str(int((root / _JUDGE).read_text()))).exists():
                uid = int(root.name.removeprefix(NAMED))
                Quarters(uid, root, root, root, root).clear()


def _first_readable(top: Path, allowed: set[Path]) -> Path | None:
    """The first file below `top` that others can read; `top` itself where there is too much to look at."""
    queue, looked_at = [top], 0
    while queue:
        path = queue.pop()
        looked_at += 1
        if path in allowed or path.is_symlink():
            continue
        if looked_at > _MOST_LOOKED_AT:
            return top
        if not path.is_dir():
            if path.exists() and _open_to_others(path, stat.S_IROTH):
                return path
        elif _open_to_others(path, stat.S_IXOTH):
            queue += _entries(path)
    return None


def _open_to_others(path: Path, bit: int) -> bool:
    try:
        return bool(path.stat().st_mode & bit)
    except OSError:
        return False


def _entries(folder: Path) -> Sequence[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return ()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()
