"""Where a command may write: an ordinary file, new or replaced, and nothing that somebody else waits behind."""

import os
import stat
from pathlib import Path

from grader.printable import printable_path
from grader.refusal import BadInput


def ordinary_file(out: Path) -> None:
    """Refuse `--out` where it is there already and no ordinary file.

    A file is written beside its place and moved there. What stands in that place would be gone: a device, a link, a
    FIFO that another program reads.

    Raises:
        BadInput: it is a folder, a link, a device, a FIFO or a socket, or its name cannot be one.
    """
    shown = f"--out {printable_path(out)}"
    try:
        mode = os.lstat(out).st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInput(f"{shown}: cannot be written ({reason}), name another file") from None
    if stat.S_ISDIR(mode):
        raise BadInput(f"{shown}: is a folder, name a file")
    if stat.S_ISLNK(mode):
        raise BadInput(f"{shown}: is a link, name the file itself")
    if not stat.S_ISREG(mode):
        raise BadInput(f"{shown}: is a device, a FIFO or a socket, name a file or leave --out out")


def folder(out: Path) -> None:
    """Refuse `--out` where it is there already and no folder.

    Raises:
        BadInput: it is something else, or its name cannot be one.
    """
    shown = f"--out {printable_path(out)}"
    try:
        str(out.resolve()).encode()
    except UnicodeEncodeError:
        raise BadInput(f"{shown}: is no text in UTF-8, name another folder") from None
    try:
        mode = os.stat(out).st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInput(f"{shown}: cannot be written ({reason}), name another folder") from None
    if not stat.S_ISDIR(mode):
        raise BadInput(f"{shown}: is a file, name a folder")
