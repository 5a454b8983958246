"""Goes below Python: scans its own memory for answers, writes over machine code, puts itself between worker and wire.

Seen: pygpubench's heap_sig_scan, got_patch, function_detour, proc_mem_bypass, file_struct and pipe_interpose, which beat
harnesses that compare, time and report in the process of the kernel.
Stopped by: that process holds no answer, no clock and no verdict. Whoever owns all of it can forge what it returns, which
is compared, or break it.
"""

from tests.adversarial.case import Expected, Variant, breach, state

ATTACK = "native_patch"

# Patterns that do not match themselves, lest this code's own text is what is found.
HEAP_SCAN = """
import re
words = [re.compile(b"test_any_[r]ecipe"), re.compile(b"test_every_copy_[m]ay_be_absent"), re.compile(b"solutions/[m]emory")]
with open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in open("/proc/self/maps"):
        first, last = (int(number, 16) for number in line.split()[0].split("-"))
        if "r" not in line.split()[1] or last - first > 1 << 28:
            continue
        try:
            memory.seek(first)
            found = memory.read(last - first)
        except (OSError, OverflowError, ValueError):
            continue
        if any(word.search(found) for word in words):
            return True
"""
DETOUR = """
import ctypes
send = ctypes.cast(ctypes.CDLL(None).send, ctypes.c_void_p).value
with open("/proc/self/mem", "r+b", buffering=0) as memory:
    memory.seek(send)
    memory.write(b"\\xb8\\x01\\x00\\x00\\x00\\xc3")
"""
COMPARES = """
import ctypes
libc = ctypes.CDLL(None)
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
for name in ("memcmp", "strcmp"):
    place = ctypes.cast(getattr(libc, name), ctypes.c_void_p).value
    if libc.mprotect(place & ~4095, 8192, 7) == 0:
        ctypes.memmove(place, b"\\x31\\xc0\\xc3", 3)
"""
INTERPOSE = """
import os, socket, stat, threading
for descriptor in range(3, 64):
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            continue
    except OSError:
        continue
    real = os.dup(descriptor)
    ours, theirs = socket.socketpair()
    os.dup2(theirs.fileno(), descriptor)
    def forward(ours=ours, real=real):
        while data := ours.recv(1 << 16):
            os.write(real, data.replace(b'"kind":"value"', b'"kind":"value","outcome":"passed"'))
    threading.Thread(target=forward, daemon=True).start()
"""
BROKEN = Expected(("failed", "crashed", "timed_out", "integrity"))

VARIANTS = (
    Variant("scans_the_heap", breach(HEAP_SCAN), Expected(says="weights")),
    Variant("detours_send", state(call=DETOUR), BROKEN, takes_s=9),
    Variant("detours_comparisons", state(call=COMPARES), BROKEN, takes_s=9),
    Variant("interposes", state(call=INTERPOSE), BROKEN, takes_s=9),
)
