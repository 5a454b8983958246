"""Installs a package while it is graded, or brings one along: pip, a wheel in the zip, a download.

Seen: submissions that installed flash-attn at run time; a pip.conf that led to a mirror of the student's.
Stopped by: no network, nothing that can be written is on sys.path, and only .py files are copied.
"""

import base64

from tests.adversarial.case import Expected, Variant, breach, state, write

ATTACK = "pip_install"

PIP = """
import subprocess, sys
for command in (
    [sys.executable, "-m", "pip", "install", "--quiet", "--timeout", "1", "--retries", "0", "--target", "/tmp/p", "six"],
    [sys.executable, "-m", "ensurepip", "--user"],
):
    try:
        if subprocess.run(command, capture_output=True, timeout=1.2).returncode == 0:
            return True
    except (OSError, subprocess.TimeoutExpired):
        pass
"""
DOWNLOAD = """
import socket, urllib.request
socket.setdefaulttimeout(1)
for address in ("https://pypi.org/simple/", "http://1.1.1.1/"):
    try:
        return bool(urllib.request.urlopen(address, timeout=1).read(1))
    except OSError:
        pass
"""
BROUGHT = """
import sys
sys.path[:0] = ["/submission/lib.zip", "/submission/memory/lib.whl", "/submission"]
import answers
return True
"""


def with_wheel(folder, solutions):
    breach(BROUGHT)(folder, solutions)
    # An empty zip: whether it could be imported from is decided before its content is looked at.
    content = base64.b64decode("UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==")
    (folder / "lib.zip").write_bytes(content)
    (folder / "memory" / "lib.whl").write_bytes(content)
    return write(folder, {"answers.so": "", "pip.conf": "[global]\nindex-url = http://127.0.0.1/\n"})


VARIANTS = (
    Variant("pip", breach(PIP), Expected(says="weights"), takes_s=6),
    Variant("download", breach(DOWNLOAD), Expected(says="weights")),
    Variant("brought_along", with_wheel, Expected(says="weights", notes=("not copied",))),
)
