"""What a student might write for ranks, and might get wrong: copied into a submission by test_ranks.py."""

import ctypes
import os
import time

import torch
import torch.distributed as dist


def total(x, group=None):
    dist.all_reduce(x, group=group)
    return x


def doubled_and_total(x, group=None):
    y = 2 * x
    del x
    return total(y, group)


def many_routes(x, group=None):
    """Python's calls, functional collectives, autograd's, a group of its own, "gloo" by name, and a wrapper."""
    import torch.distributed._functional_collectives as functional
    import torch.distributed.nn.functional as differentiable

    n = dist.get_world_size(group)
    dist.all_reduce(x, group=group)
    (functional.all_reduce(x, "max", group) + 0).sum()
    (functional.all_gather_tensor(x, 0, group) + 0).sum()
    (functional.reduce_scatter_tensor(x, "sum", 0, group) + 0).sum()
    z = torch.ones(n, requires_grad=True)
    differentiable.all_reduce(z, group=group).sum().backward()
    own = dist.new_group([0, 1], backend="gloo")
    if dist.get_rank() < 2:
        dist.broadcast(x, 0, group=own)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1, bias=False), process_group=group)
    model(torch.ones(1, 2)).sum().backward()
    return n


def uneven(x, group=None):
    """What gloo itself refuses: pieces of different sizes."""
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    gathered = [torch.zeros(other + 1) for other in range(n)]
    dist.all_gather(gathered, torch.full((rank + 1,), float(rank)), group=group)
    swapped = [torch.zeros(other + 1) for other in range(n)]
    dist.all_to_all(
        swapped, [torch.full((rank + 1,), 10.0 * rank + other) for other in range(n)], group=group
    )
    return torch.cat(gathered), torch.cat(swapped)


def different_seeds(x, group=None):
    return torch.randn(3)


def leaves_no_output(x, group=None):
    print("rank", dist.get_rank(group))
    return x


# ---- what goes wrong


def never_arrives(x, group=None):
    total(x, group)
    if dist.get_rank(group) == 1:
        time.sleep(1000)
    return total(x, group)


def spins(x, group=None):
    while dist.get_rank(group) == 0:
        pass
    return x


def returns_early(x, group=None):
    return x if dist.get_rank(group) == 1 else total(x, group)


def exits(x, group=None):
    if dist.get_rank(group) == 1:
        os._exit(3)
    return total(x, group)


def exits_politely(x, group=None):
    if dist.get_rank(group) == 1:
        raise SystemExit(0)
    return total(x, group)


def segfaults(x, group=None):
    if dist.get_rank(group) == 1:
        ctypes.string_at(0)
    return total(x, group)


def never_stops_calling(x, group=None):
    while True:
        dist.barrier(group=group)


def raises(x, group=None):
    if dist.get_rank(group) == 1:
        raise ValueError("the second rank is unhappy")
    return total(x, group)


def is_a_stub(x, group=None):
    raise NotImplementedError


def returns_a_lambda(x, group=None):
    return lambda: x


def other_collective(x, group=None):
    total(x, group)
    if dist.get_rank(group) == 0:
        return total(x, group)
    dist.all_gather([torch.empty_like(x) for _ in range(dist.get_world_size(group))], x, group=group)
    return x


def other_size(x, group=None):
    return total(x[: 3 + dist.get_rank(group)].clone(), group)


def other_operation(x, group=None):
    dist.all_reduce(x, op=dist.ReduceOp.MAX if dist.get_rank(group) else dist.ReduceOp.SUM, group=group)
    return x


def other_root(x, group=None):
    dist.broadcast(x, dist.get_rank(group), group=group)
    return x


def send_without_recv(x, group=None):
    if dist.get_rank(group) == 0:
        dist.send(x, 1, group=group)
    return x


def isend_without_recv(x, group=None):
    if dist.get_rank(group) == 0:
        dist.isend(x, 1, group=group)
    return x


def send_into_small_buffer(x, group=None):
    if dist.get_rank(group) == 0:
        dist.send(x, 1, group=group)
    else:
        dist.recv(torch.empty(2), 0, group=group)
    return x


def all_send_first(x, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    received = torch.empty_like(x)
    dist.send(x, (rank + 1) % n, group=group)
    dist.recv(received, (rank - 1) % n, group=group)
    return received


def leaves_a_child(x, group=None):
    """A process that outlives its rank, in a session of its own, and holds on to whatever the rank had open."""
    if not os.fork():
        os.setsid()
        if os.fork():
            os._exit(0)
        time.sleep(1000)
    return total(x, group)


def leaves_a_thread(x, group=None):
    import threading

    threading.Thread(target=time.sleep, args=(1000,)).start()
    return total(x, group)


class Doubling(torch.nn.Module):
    """A module, for a scenario to build."""

    def __init__(self, width, group=None):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((width,), 2.0))


# ---- what looks at the grader


def frames_of_nonsense(x, group=None):
    """Writes garbage into whatever is open."""
    for descriptor in range(3, 60):
        try:
            os.write(descriptor, b"nonsense" * 100)
        except OSError:
            continue
    return x


def tells_of_itself(x, group=None):
    """Tells the watcher of a call that never was."""
    world = dist.group.WORLD
    world._teller._tell({"event": "done", "number": 99})
    return x


def changes_the_recorder(x, group=None):
    import sys

    sys.modules["_rooflab_worker.ranks.group"].RecordedGroup.allreduce = lambda self, tensors, opts=None: None
    return x


def finds_the_others_inputs(x, group=None):
    """How often its memory holds a marker with the number of another rank behind it."""
    import struct

    marker, other = struct.pack("<d", 1234.5), 100.0 + (1 - dist.get_rank(group))
    found = 0
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, access = line.split()[:2]
            if "w" not in access or "[v" in line:
                continue
            start, end = (int(each, 16) for each in span.split("-"))
            try:
                memory.seek(start)
                content = memory.read(end - start)
            except OSError:
                continue
            at = content.find(marker)
            while at >= 0:
                behind = content[at + 8 : at + 16]
                found += len(behind) == 8 and struct.unpack("<d", behind)[0] == other
                at = content.find(marker, at + 1)
    return int(found)
