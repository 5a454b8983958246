"""Talks to the outside: a listener on the host's loopback, the internet, DNS, sockets in the file system.

Seen: submissions that fetched the answers, or reported the hidden inputs, while they were graded.
Stopped by: a network namespace without any interface but its own loopback, and no socket file in sight.
"""

import socket

from tests.adversarial.case import Expected, Variant, breach

ATTACK = "network"

_open: list[socket.socket] = []


def listeners(folder, solutions):
    """Really listening on the host, at an address and under an abstract name."""
    internet = socket.create_server(("127.0.0.1", 0))
    named = socket.socket(socket.AF_UNIX)
    name = f"\0rooflab-{internet.getsockname()[1]}"
    named.bind(name)
    named.listen()
    _open.extend((internet, named))
    return {"PORT": str(internet.getsockname()[1]), "NAME": repr(name)}


LOOPBACK = """
import socket
socket.create_connection(("127.0.0.1", @PORT@), timeout=2).close()
return True
"""
ABSTRACT = """
import socket
with socket.socket(socket.AF_UNIX) as one:
    one.connect(@NAME@)
return True
"""
INTERNET = """
import os, socket
socket.setdefaulttimeout(2)
if set(os.listdir("/sys/class/net") if os.path.isdir("/sys/class/net") else ()) - {"lo"}:
    return True
with open("/proc/net/route") as routes:
    if len(routes.readlines()) > 1:
        return True
for address in (("1.1.1.1", 53), ("8.8.8.8", 443)):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            with socket.socket(type=kind) as one:
                one.connect(address)
                return True
        except OSError:
            pass
socket.getaddrinfo("example.org", 80)
return True
"""
SERVICES = """
import os, socket
for path in ("/var/run/docker.sock", "/run/dbus/system_bus_socket", "/tmp/.X11-unix/X0", "/run/systemd/private"):
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(path)
        return True
    except OSError:
        pass
with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP):
    return True
"""
FAILED = Expected(says="weights")

VARIANTS = (
    Variant("host_loopback", breach(LOOPBACK, listeners), FAILED, needs_sandbox=True),
    Variant("abstract_socket", breach(ABSTRACT, listeners), FAILED, needs_sandbox=True),
    Variant("internet_and_dns", breach(INTERNET), FAILED),
    Variant("services_and_raw", breach(SERVICES), FAILED),
)
