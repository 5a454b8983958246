# %% [markdown]
# # A ring of ranks
#
# Section 5 of the handout: an all-reduce out of nothing but messages between neighbours.

# %%
"""Collectives from send and receive: the ring all-reduce, and the two halves that it is made of."""

import torch
import torch.distributed as dist
from torch import Tensor


# %%
def reduce_scatter(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """This rank's part of the sum of all ranks' tensors, by send and receive alone.

    Every rank of the group calls it, with a tensor of the same shape and format. The parts are those of
    `torch.tensor_split(tensor.reshape(-1), n)` for a group of n ranks: n consecutive pieces of the flattened
    tensor, of which the first (elements mod n) have one element more than the others. With fewer elements than
    ranks some are empty.

    Args:
        tensor: of floats or integers, of any shape and any strides. It is left as it was.
        group: the ranks that take part, None for all. `dist.get_rank(group)` is this rank's number in it.

    Returns:
        Piece number `rank` of the sum, of shape (elements of the piece,), in the format of `tensor`, in memory of
        its own. A group of one returns a copy of its flattened tensor.

    Only point-to-point calls may be used: dist.send, recv, isend, irecv, batch_isend_irecv. A rank may send
    (n − 1)/n of the tensor, that is, every piece but its own; a piece without elements need not be sent.

    Source: Patarasuk and Yuan 2009, section 3; Thakur, Rabenseifner and Gropp 2005, section 4.
    """
    raise NotImplementedError("write me")


def all_gather(piece: Tensor, elements: int, group: dist.ProcessGroup | None = None) -> Tensor:
    """All ranks' pieces, one behind the other, by send and receive alone.

    Args:
        piece: this rank's, of shape (elements of the piece,). The sizes are those of `reduce_scatter`: rank r has
            piece number r of `torch.tensor_split` over n ranks. It is left as it was.
        elements: of all pieces together.
        group: the ranks that take part, None for all.

    Returns:
        A tensor of shape (elements,) with the pieces in the order of their ranks, in the format of `piece`, in
        memory of its own. A group of one returns a copy of its piece.

    As in `reduce_scatter` only point-to-point calls may be used, and all ranks together may send (n − 1) times the
    gathered tensor.
    """
    raise NotImplementedError("write me")


# %%
def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The sum of all ranks' tensors, on every rank, by messages between neighbours of a ring.

    Every rank of the group calls it, with a tensor of the same shape and format. Rank r sends to rank r + 1 and
    receives from rank r − 1 (modulo n), or the other way round: never anything to any other rank.

    Args:
        tensor: of floats or integers, of any shape (no dimension too) and any strides, with any number of
            elements: divisible by n or not, fewer than n, none. It is left as it was.
        group: the ranks that take part, None for all. `dist.get_rank(group)` is this rank's number in it, and
            `group_dst=`, `group_src=` and `group_peer=` take such numbers.

    Returns:
        A new contiguous tensor of the same shape and format with the sum, the same on every rank, in memory of its
        own. A group of one returns a copy.

    Only point-to-point calls may be used: dist.send, recv, isend, irecv, batch_isend_irecv. Cut the flattened
    tensor into n pieces as `torch.tensor_split` does. In n − 1 steps each piece goes round and gathers the sum
    (reduce-scatter), in n − 1 more every rank gets every sum (all-gather). So all ranks together send 2 (n − 1)
    times the bytes of the tensor, and each rank 2 (n − 1)/n of them, more or less a piece's odd element.

    A send is through when the other side receives: if all ranks first send and then receive, nobody ever does.

    Source: Patarasuk and Yuan 2009 (Bandwidth optimal all-reduce algorithms for clusters of workstations).
    """
    raise NotImplementedError("write me")
