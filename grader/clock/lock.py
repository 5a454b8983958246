"""One run at a time on a card: a lock that its holder cannot forget, since it dies with the holder's process."""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.clock.device import DeviceError

FOLDER_VARIABLE = "ROOFLAB_GPU_LOCKS"
"""Names the folder. All that share a card must share it: containers have to be given one from outside."""
SHARED_FOLDER = "/tmp/rooflab-gpu-locks"  # noqa: S108 - `_safe` looks who could have put what there
LOOK_EVERY_S = 0.5
SAY_EVERY_S = 60.0


class CardBusy(DeviceError):
    """Somebody else held the card for as long as one was willing to wait."""


def folder() -> Path:
    """Where the locks are: in one folder for all users of the machine, whatever TMPDIR says.

    Each judge has a TMPDIR of its own, and so has each job of a cluster: locks in there would exclude nobody.
    """
    return Path(os.environ.get(FOLDER_VARIABLE) or SHARED_FOLDER)


@contextlib.contextmanager
def card_lock(
    uuid: str,
    *,
    where: Path | None = None,
    wait_s: float = float("inf"),
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[None]:
    """Hold a card for the block's time, waiting for whoever holds it now.

    The lock is the kernel's (flock), on an open file: it ends with the process, however that ends, and a file that
    is left over locks nothing. It binds only those who ask for it; others are seen as neighbours.

    Args:
        uuid: the card's, as NVML gives it.
        where: the folder; `folder()` unless given.
        wait_s: how long at most.
        say: hears once, and then every minute, that one waits and for what.

    Raises:
        CardBusy: it is held for longer than `wait_s`.
        DeviceError: the file or its folder is not what this function makes: a link, or a folder in which another
            user could change it.
    """
    path = _safe(where or folder()) / f"{_file_name(uuid)}.lock"
    descriptor = _locked(path, uuid, wait_s, say)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing leaves it to a process that has a copy by a fork
        os.close(descriptor)


def _locked(path: Path, uuid: str, wait_s: float, say: Callable[[str], None]) -> int:
    began_s = time.monotonic()
    said_s = -SAY_EVERY_S
    while True:
        descriptor = _open(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # A lock on a file that was removed meanwhile is a lock on nothing: the next one makes a new file.
            if _same(descriptor, path):
                return descriptor
            os.close(descriptor)
            continue
        except OSError as error:
            os.close(descriptor)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise DeviceError(f"{path}: cannot be locked ({error.strerror})") from None
        waited_s = time.monotonic() - began_s
        if waited_s >= wait_s:
            raise CardBusy(f"{uuid}: held by another run for {waited_s:.0f} s ({path})")
        if waited_s - said_s >= SAY_EVERY_S:
            said_s = waited_s
            say(f"waiting for the GPU: another run holds {uuid} ({path}), {waited_s:.0f} s so far")
        time.sleep(min(LOOK_EVERY_S, wait_s - waited_s))


def _file_name(uuid: str) -> str:
    """The uuid as a name in a folder; what is no part of any uuid cannot lead out of it."""
    name = "".join(each for each in uuid if each.isascii() and (each.isalnum() or each == "-"))
    if not name:
        raise DeviceError(f"{uuid!r}: no uuid of a card")
    return name


def _safe(where: Path) -> Path:
    """The folder, made where it is missing, with a sticky bit as /tmp has it: nobody removes another's file.

    Raises:
        DeviceError: it is a link, or another user could replace files in it.
    """
    try:
        where.mkdir(parents=True)
        where.chmod(0o1777)  # the umask took bits from what mkdir was given
    except FileExistsError:
        pass
    except OSError as error:
        raise DeviceError(
            f"{where}: cannot be made ({error.strerror}); name another in {FOLDER_VARIABLE}"
        ) from None
    found = os.lstat(where)
    if not stat.S_ISDIR(found.st_mode):
        raise DeviceError(f"{where}: is no folder; remove it, or name another in {FOLDER_VARIABLE}")
    theirs = found.st_uid not in (0, os.getuid()) and not found.st_mode & stat.S_ISVTX
    if theirs or (found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX):
        raise DeviceError(f"{where}: another user could replace files in it; chmod 1777 it, or name another")
    return where


def _open(path: Path) -> int:
    """The lock's file, opened to read: flock asks for no more, and it may be another user's.

    Raises:
        DeviceError: there is something else by that name.
    """
    flags = (
        os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    )  # O_NONBLOCK: a planted FIFO would wait for ever
    try:
        # First without O_CREAT, which Linux forbids on another user's file in a sticky folder (fs.protected_regular).
        try:
            descriptor = os.open(path, flags)
        except FileNotFoundError:
            try:
                descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
                os.fchmod(descriptor, 0o644)  # whatever the umask: other users must be able to open it
            except FileExistsError:  # made by another at this moment
                descriptor = os.open(path, flags)
    except OSError as error:
        what = "is a link" if error.errno == errno.ELOOP else f"cannot be opened ({error.strerror})"
        raise DeviceError(f"{path}: {what}; remove it if nobody times on that card") from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(descriptor)
        raise DeviceError(f"{path}: is no plain file of its own; remove it if nobody times on that card")
    return descriptor


def _same(descriptor: int, path: Path) -> bool:
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
