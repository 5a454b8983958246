"""Hands in something whose reading never ends or does something: a FIFO, a socket, a 10 GB sparse file.

Seen: a grader that waited a night for somebody to write into a student's FIFO.
Stopped by: what is no regular file is never opened, not even when it became one since it was listed; sizes are limited
before anything is read.
"""

import os
import socket

from tests.adversarial.case import Variant
from tests.adversarial.containers import MISSING, TOO_LARGE

ATTACK = "special_file"

_open: list[socket.socket] = []


def fifo(folder, solutions):
    (folder / "memory").mkdir()
    os.mkfifo(folder / "memory" / "state.py")
    return folder


def socket_file(folder, solutions):
    (folder / "memory").mkdir()
    one = socket.socket(socket.AF_UNIX)
    before = os.getcwd()
    os.chdir(folder / "memory")  # a socket's path has at most 108 characters
    try:
        one.bind("state.py")
    finally:
        os.chdir(before)
    _open.append(one)
    return folder


def sparse(folder, solutions):
    (folder / "memory").mkdir()
    with open(folder / "memory" / "state.py", "wb") as file:
        file.truncate(10 << 30)
    return folder


VARIANTS = (
    Variant("fifo", fifo, MISSING),
    Variant("socket", socket_file, MISSING),
    Variant("sparse_10_gb", sparse, TOO_LARGE),
)
