"""A process group over gloo that tells of every collective before it runs: the backend of all groups on ranks.

`torch.distributed` calls a process group of Python's through its methods, and so do functional collectives, tensor
subclasses and PyTorch's own wrappers, from C++. What gloo has none of (uneven all-gathers, all-to-alls of uneven
lists, the coalesced forms) is made of what it has, and told as what was asked for.
"""

import os
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import (
    AllgatherOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    FileStore,
    GatherOptions,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
)
from torch.distributed import distributed_c10d

from .works import RecordedWork, Several, Teller, together

BACKEND = "recorded_gloo"
_GLOO: Any = distributed_c10d.ProcessGroupGloo
_ProcessGroup: Any = dist.ProcessGroup
LOOPBACK = "lo" if sys.platform.startswith("linux") else "lo0"
_DEADLINE = timedelta(hours=1)  # the watcher's is the one that counts


class RecordedGroup(_ProcessGroup):  # type: ignore[misc]  # PyTorch's signatures of it contradict each other
    """gloo, with every call told to the watcher."""

    def __init__(
        self, store: Any, rank: int, size: int, members: Sequence[int], key: str, teller: Teller
    ) -> None:
        super().__init__(rank, size)
        self.members = tuple(members)
        self.key = key
        self._teller = teller
        self._description = ""
        self._gloo = _behind(_GLOO(store, rank, size, _DEADLINE), teller)

    # ---- names, by which functional collectives find the group again

    def getBackendName(self) -> str:  # torch's own name for it
        return BACKEND

    def setGroupName(self, name: str) -> None:  # torch's own name for it
        self.key = name

    def getGroupName(self) -> str:  # torch's own name for it
        return self.key

    def setGroupDesc(self, description: str) -> None:  # torch's own name for it
        self._description = description

    def getGroupDesc(self) -> str:  # torch's own name for it
        return self._description

    def _set_sequence_number_for_group(self) -> None:
        pass

    def _told(
        self,
        kind: str,
        tensors: Sequence[torch.Tensor],
        start: Callable[[], Any],
        after: Callable[[], None] | None = None,
        **more: Any,
    ) -> RecordedWork:
        number = self._teller.begins(self, kind, tensors, **more)
        return RecordedWork(start(), number, self._teller, after)

    # ---- collectives, by the names under which torch.distributed calls them

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:
        opts = _options(AllreduceOptions, opts)
        return self._told(
            "all_reduce", tensors, lambda: self._gloo().allreduce(tensors, opts), op=_op(opts.reduceOp)
        )

    def allreduce_coalesced(self, tensors: Any, opts: Any = None) -> Any:
        plain = AllreduceOptions()
        if opts is not None:
            plain.reduceOp = opts.reduceOp
        works = [self.allreduce([tensor], plain) for tensor in tensors]
        return works[0] if len(works) == 1 else together(works)

    def broadcast(self, tensors: Any, opts: Any = None) -> Any:
        opts = _options(BroadcastOptions, opts)
        root = self.members[opts.rootRank]
        return self._told("broadcast", tensors, lambda: self._gloo().broadcast(tensors, opts), peer=root)

    def reduce(self, tensors: Any, opts: Any = None) -> Any:
        opts = _options(ReduceOptions, opts)
        root = self.members[opts.rootRank]
        return self._told(
            "reduce", tensors, lambda: self._gloo().reduce(tensors, opts), peer=root, op=_op(opts.reduceOp)
        )

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        opts = _options(AllgatherOptions, opts)
        even = len({tuple(part.shape) for part in outputs[0]}) == 1
        start = self._gloo().allgather if even else self._uneven_allgather
        return self._told("all_gather", outputs[0], lambda: start(outputs, inputs, opts))

    def all_gather_single(self, output: Any, input: Any, opts: Any = None) -> Any:
        opts = _options(AllgatherOptions, opts)
        return self._told("all_gather", [output], lambda: self._gloo()._allgather_base(output, input, opts))

    _allgather_base = all_gather_single

    def all_gather_single_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        pairs = zip(outputs, inputs, strict=True)
        return together([self.all_gather_single(output, input, opts) for output, input in pairs])

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def allgather_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        return together(
            [
                self.allgather([[each[index] for each in outputs]], [tensor], opts)
                for index, tensor in enumerate(inputs)
            ]
        )

    def reduce_scatter(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        opts = _options(ReduceScatterOptions, opts)
        return self._told(
            "reduce_scatter",
            inputs[0],
            lambda: self._gloo().reduce_scatter(outputs, inputs, opts),
            op=_op(opts.reduceOp),
        )

    def reduce_scatter_single(self, output: Any, input: Any, opts: Any = None) -> Any:
        opts = _options(ReduceScatterOptions, opts)
        return self._told(
            "reduce_scatter",
            [input],
            lambda: self._gloo()._reduce_scatter_base(output, input, opts),
            op=_op(opts.reduceOp),
        )

    _reduce_scatter_base = reduce_scatter_single

    def reduce_scatter_single_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        pairs = zip(outputs, inputs, strict=True)
        return together([self.reduce_scatter_single(output, input, opts) for output, input in pairs])

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def all_to_all_single(
        self, output: Any, input: Any, output_sizes: Any = (), input_sizes: Any = (), opts: Any = None
    ) -> Any:
        opts = _options(AllToAllOptions, opts)
        sizes = list(output_sizes or ()), list(input_sizes or ())
        return self._told(
            "all_to_all", [input], lambda: self._gloo().alltoall_base(output, input, *sizes, opts)
        )

    alltoall_base = all_to_all_single

    def alltoall(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        opts = _options(AllToAllOptions, opts)
        flat = torch.cat([part.reshape(-1) for part in inputs])
        received = flat.new_empty(sum(part.numel() for part in outputs))
        sizes = [part.numel() for part in outputs], [part.numel() for part in inputs]

        def spread() -> None:
            for part, piece in zip(outputs, torch.split(received, sizes[0]), strict=True):
                part.detach().copy_(piece.view(part.shape))

        return self._told(
            "all_to_all", inputs, lambda: self._gloo().alltoall_base(received, flat, *sizes, opts), spread
        )

    def gather(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        opts = _options(GatherOptions, opts)
        root = self.members[opts.rootRank]
        return self._told("gather", inputs, lambda: self._gloo().gather(outputs, inputs, opts), peer=root)

    def scatter(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        opts = _options(ScatterOptions, opts)
        root = self.members[opts.rootRank]
        return self._told("scatter", outputs, lambda: self._gloo().scatter(outputs, inputs, opts), peer=root)

    def barrier(self, opts: Any = None) -> Any:
        return self._told("barrier", [], lambda: self._gloo().barrier(BarrierOptions()))

    def monitored_barrier(self, timeout: Any = None, wait_all_ranks: bool = False) -> None:
        self.barrier().wait()

    def send(self, tensors: Any, dst: int, tag: int = 0) -> Any:
        peer = self.members[dst]
        return self._told("send", tensors, lambda: self._gloo().send(tensors, dst, tag), peer=peer, tag=tag)

    def recv(self, tensors: Any, src: int, tag: int = 0) -> Any:
        peer = self.members[src]
        return self._told("recv", tensors, lambda: self._gloo().recv(tensors, src, tag), peer=peer, tag=tag)

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Any:
        return self._told("recv", tensors, lambda: self._gloo().recv_anysource(tensors, tag), tag=tag)

    recvAnysource = recv_anysource  # torch's own name for it

    # ---- what gloo leaves out

    def _uneven_allgather(self, outputs: Any, inputs: Any, opts: Any) -> Any:
        works = []
        for index, part in enumerate(outputs[0]):
            if index == self.rank():
                part.detach().copy_(inputs[0])
            each = BroadcastOptions()
            each.rootRank = index
            works.append(self._gloo().broadcast([part], each))
        return Several(works)


def _behind(gloo: Any, teller: Teller) -> Callable[[], Any]:
    """A function that gives the group its gloo; whoever else asks reaches behind what is recorded."""

    def reach() -> Any:
        teller.look_at(sys._getframe(1))
        return gloo

    return reach


def _options(kind: Any, given: Any) -> Any:
    return kind() if given is None else given


def _op(reduce_op: Any) -> str:
    """sum, avg, max and so on."""
    text = str(getattr(reduce_op, "op", reduce_op))
    return text.rsplit(".", 1)[-1].lower()[:20]


class _Members:
    """Takes what torch.distributed writes into the options of a gloo group that it has made."""

    def __init__(self, group: RecordedGroup) -> None:
        vars(self)["group"] = group

    def __setattr__(self, name: str, value: Any) -> None:
        group: RecordedGroup = vars(self)["group"]
        if name == "global_ranks_in_group" and value:
            group.members = tuple(value)


def register(teller: Teller) -> None:
    """Make BACKEND known to torch.distributed, also to who asks for "gloo" by name."""

    def create(options: Any, _: Any) -> RecordedGroup:
        members = list(options.global_ranks_in_group) or list(range(options.group_size))
        return RecordedGroup(
            options.store, options.group_rank, options.group_size, members, str(options.group_id), teller
        )

    if BACKEND not in dist.Backend.backend_list:
        dist.Backend.register_backend(BACKEND, create, extended_api=True, devices=["cpu"])

    class Gloo(RecordedGroup):
        """What torch.distributed makes for the backend "gloo", whose members it sets afterwards."""

        def __init__(self, store: Any, rank: int, size: int, timeout: Any = None) -> None:
            super().__init__(store, rank, size, range(size), "", teller)
            self.options = _Members(self)

    vars(distributed_c10d)["ProcessGroupGloo"] = Gloo


def join(rank: int, size: int, store_file: str, teller: Teller) -> Any:
    """Make this process rank `rank` of `size`; the group of all of them."""
    os.environ["GLOO_SOCKET_IFNAME"] = LOOPBACK
    register(teller)
    dist.init_process_group(
        BACKEND, store=FileStore(store_file, size), rank=rank, world_size=size, timeout=_DEADLINE
    )
    return dist.group.WORLD
