"""All ranks send first, and then nobody receives."""

import torch
import torch.distributed as dist
from torch import Tensor

EXERCISE = "ring_all_reduce"
HINT = (
    "Every rank waits in its send for the next one to receive, and the next one waits in its own send. Post the send "
    "and the receive together, then wait for both: batch_isend_irecv, or isend, recv, wait."
)
FAILS = ("test_every_rank_gets_the_sum",)
SYMPTOMS = ("ranks.deadlock",)


def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    pieces = [piece.clone() for piece in torch.tensor_split(tensor.reshape(-1), size)]
    for step in range(2 * (size - 1)):
        outgoing, piece = pieces[(rank - step) % size], (rank - step - 1) % size
        incoming = torch.empty_like(pieces[piece])
        dist.send(outgoing, group=group, group_dst=(rank + 1) % size)
        dist.recv(incoming, group=group, group_src=(rank - 1) % size)
        pieces[piece] = pieces[piece] + incoming if step < size - 1 else incoming
    return torch.cat(pieces).view(tensor.shape)
