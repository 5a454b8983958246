"""How many bytes of tensors are alive at a moment, for scenarios that look between two steps."""

import gc
import time

from ..memory import LiveTensors

_PAUSE_S = 0.01
_LEAST_S = 0.1
"""Of waiting at each look, also when all patience is gone: what gloo holds is not the student's."""


def alive_bytes(live: LiveTensors) -> int:
    """Bytes of the storages that were made under the watch and are held by somebody now, autograd included."""
    peak_bytes, live.peak_bytes = live.peak_bytes, 0
    live.look()
    now_bytes = live.peak_bytes
    live.peak_bytes = max(peak_bytes, now_bytes)
    return now_bytes


class Settled:
    """The same, once gloo has let go: its threads hold the tensors of a collective a little longer than it lasts."""

    def __init__(self, live: LiveTensors, patience_s: float = 3.0) -> None:
        self._live = live
        self._left_s = patience_s
        """Of waiting, for all looks together: who keeps too much keeps it at each of them."""

    def bytes(self, enough_bytes: int) -> int:
        """What is alive; nobody waits for less than `enough_bytes`."""
        found = alive_bytes(self._live)
        if found > enough_bytes and self._left_s > 0:
            gc.collect()
        here_s = max(self._left_s, _LEAST_S)
        while found > enough_bytes and here_s > 0:
            time.sleep(_PAUSE_S)
            self._left_s -= _PAUSE_S
            here_s -= _PAUSE_S
            found = alive_bytes(self._live)
        return found
