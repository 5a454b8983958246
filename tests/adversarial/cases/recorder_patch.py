"""Lets the library add up over ranks where messages are asked for, and forges what is recorded of it.

Seen: a submission that reached the backend behind `torch.distributed` and unwrapped it, so that nothing was counted.
Stopped by: the recorder is the process group itself, and the modules that it is made of are sealed before the
submission's code runs; records leave the rank before the collective begins; an answer without the messages that it
takes fails every check; and the bytes are counted on the sandbox's loopback device, from outside.
"""

import textwrap
from pathlib import Path

from tests.adversarial.case import Build, Expected, Variant, write

ATTACK = "recorder_patch"

EXERCISE = "sharding.ring_all_reduce"
CAUGHT = Expected(("integrity",), says="changed the part of the grader that measures it")
UNEARNED = Expected(says="the ranks together send less than")
LIED = Expected(("integrity",), says="a rank sent what no honest code sends")
BEHIND = Expected(("integrity",), says="more over the network than torch.distributed was asked for")
NOT_JOINED = Expected(("failed", "integrity", "timed_out"))
NEVER_SENT = Expected(("integrity",), says="messages that were never on the wire")

TOP = """
import os
import sys
import types

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import AllreduceOptions, FileStore


def worker(name):
    return sys.modules["_rooflab_worker." + name]


def of_the_kind(group):
    return group if group is not None else dist.group.WORLD


def copied(tensor):
    return tensor.clone(memory_format=torch.contiguous_format)
"""


def ring(call: str, attack: str = "") -> Build:
    """A `ring_all_reduce` with this body; `attack` runs at import."""

    def build(folder: Path, solutions: Path) -> Path:
        text = TOP + textwrap.dedent(attack)
        text += "\n\ndef ring_all_reduce(tensor, group=None):\n    total = copied(tensor)\n"
        text += "    if dist.get_world_size(group) == 1:\n        raise ValueError('nothing to forge')\n"
        text += textwrap.indent(textwrap.dedent(call).strip("\n"), "    ") + "\n    return total\n"
        return write(folder, {"sharding/ring.py": text})

    return build


LIBRARY = "dist.all_reduce(total, group=group)"
SILENT_TELLER = """
def begins(self, group, kind, tensors, **more):
    self._number += 1
    return self._number


worker("ranks.works").Teller.begins = begins
"""
CODE = """
worker("ranks.works").Teller.begins.__code__ = (lambda self, group, kind, tensors, **more: 1).__code__
"""
WATCHER = """
watch = worker("ranks.watch")
watch.Watch.collectives = lambda self: ()
"""
FORM = """
evidence = worker("ranks.evidence")
evidence.Collective = types.SimpleNamespace
"""
UNWRAPPED = "of_the_kind(group)._gloo().allreduce([total], AllreduceOptions()).wait()"
FOUND = """
own = of_the_kind(group)
gloo = next(cell.cell_contents for cell in own._gloo.__closure__ if hasattr(cell.cell_contents, "allreduce"))
gloo.allreduce([total], AllreduceOptions()).wait()
"""
COUNTER_BACK = f"""
teller = of_the_kind(group)._teller
{LIBRARY}
teller._number -= 1
{LIBRARY}
"""
OWN_GLOO = """
members = of_the_kind(group)
store = dist.PrefixStore("own", FileStore(os.path.join(os.environ["TMPDIR"], "own"), -1))
real = worker("ranks.group")._GLOO
from datetime import timedelta
own = getattr(ring_all_reduce, "own", None) or real(store, dist.get_rank(), dist.get_world_size(), timedelta(seconds=9))
ring_all_reduce.own = own
own.allreduce([total], AllreduceOptions()).wait()
"""
FORGED = """
teller = of_the_kind(group)._teller
rank, size = dist.get_rank(group), dist.get_world_size(group)
pieces = torch.tensor_split(total.reshape(-1), size)
for step in range(2 * (size - 1)):
    teller.begins(of_the_kind(group), "send", [pieces[(rank - step) % size]], peer=(rank + 1) % size, tag=0)
    teller.begins(of_the_kind(group), "recv", [pieces[(rank - step - 1) % size]], peer=(rank - 1) % size, tag=0)
"""
TOP_UP = """
if total.numel() < 100:
    gloo.allreduce([torch.zeros(600)], AllreduceOptions()).wait()
"""
AS_THE_GROUP = """
named = {}
exec("def begins(teller, *told, **more): teller.begins(*told, **more)", vars(worker("ranks.group")), named)
begins = named["begins"]
"""
THROUGH_FILES = """
rank, size = dist.get_rank(group), dist.get_world_size(group)
temporary = os.environ["TMPDIR"]
(of_this_call,) = [each for each in os.listdir(temporary) if each.startswith("ranks-")]
name = os.path.join(temporary, of_this_call, "part-")
torch.save(total, name + str(rank) + ".part")
os.rename(name + str(rank) + ".part", name + str(rank))
import time
while not all(os.path.exists(name + str(other)) for other in range(size)):
    time.sleep(0.01)
total = sum(torch.load(name + str(other)) for other in range(size))
"""
OWN_SOCKETS = """
import socket
rank, size = dist.get_rank(group), dist.get_world_size(group)
port = 20000 + os.getppid() % 20000
if rank == 0:
    server = socket.create_server(("127.0.0.1", port))
    peers = [server.accept()[0] for _ in range(size - 1)]
    parts = [b"".join(iter(lambda peer=peer: peer.recv(1 << 20), b"")) for peer in peers]
else:
    import time
    for _ in range(500):
        try:
            mine = socket.create_connection(("127.0.0.1", port))
            break
        except OSError:
            time.sleep(0.01)
    mine.sendall(bytes(total.reshape(-1).contiguous().view(torch.uint8).tolist()))
    mine.close()
"""

VARIANTS = (
    Variant("silences_the_recorder", ring(LIBRARY, SILENT_TELLER), CAUGHT, EXERCISE, takes_s=15),
    Variant("replaces_its_code", ring(LIBRARY, CODE), CAUGHT, EXERCISE, takes_s=15, slow=True),
    Variant("replaces_it_in_a_call", ring(SILENT_TELLER + LIBRARY), CAUGHT, EXERCISE, takes_s=15, slow=True),
    Variant("empties_the_watcher", ring(LIBRARY, WATCHER), CAUGHT, EXERCISE, takes_s=15, slow=True),
    Variant("replaces_the_form_of_records", ring(LIBRARY, FORM), CAUGHT, EXERCISE, takes_s=15, slow=True),
    Variant("unwraps_gloo", ring(UNWRAPPED), CAUGHT, EXERCISE, takes_s=15),
    Variant("finds_gloo_in_a_closure", ring(FOUND), BEHIND, EXERCISE, takes_s=15, slow=True),
    Variant("tells_of_a_ring_of_the_same_bytes", ring(FORGED + FOUND + TOP_UP), CAUGHT, EXERCISE, takes_s=15),
    Variant("turns_the_counter_back", ring(COUNTER_BACK), LIED, EXERCISE, takes_s=15, slow=True),
    Variant("makes_a_gloo_of_its_own", ring(OWN_GLOO), NOT_JOINED, EXERCISE, takes_s=20, slow=True),
    Variant("tells_of_messages_never_sent", ring(FORGED), CAUGHT, EXERCISE, takes_s=15, slow=True),
    Variant("tells_of_them_and_is_right", ring(FORGED + THROUGH_FILES), CAUGHT, EXERCISE, takes_s=15),
    Variant(
        "tells_in_the_name_of_the_group",
        ring(FORGED.replace("teller.begins(", "begins(teller, ") + THROUGH_FILES, AS_THE_GROUP),
        NEVER_SENT,
        EXERCISE,
        takes_s=15,
    ),
    Variant("goes_through_files", ring(THROUGH_FILES), UNEARNED, EXERCISE, takes_s=20, slow=True),
    Variant("opens_its_own_sockets", ring(OWN_SOCKETS), NOT_JOINED, EXERCISE, takes_s=20, slow=True),
)
