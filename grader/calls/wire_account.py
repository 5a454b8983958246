"""Whether the bytes that a sandbox's loopback device carried are those of the collectives that its ranks recorded.

The recorder works beside the student's code and can be lied to; the device is read from outside (sandbox/loopback).
What it carries above the formulas for rings was measured with torch 2.13's gloo, 2 to 4 ranks, tensors of 48 bytes to
5 MB, every kind of collective 1 to 20 times:

    headers of TCP and IP, acknowledgements   at most 1 % of tensors above 100 kB
    gloo's own messages, for a rank's call    0.4 kB a send, 0.6 kB a barrier, 3.2 kB an all-reduce,
                                              6.2 kB a reduce-scatter of a list, 4.6 kB all_gather_object
    reduce-scatter                            twice the formula: gloo all-reduces and throws away
    reduce                                    1.2 to 1.8 times the formula
    connecting a group of four                11 kB; the first has connected before the count begins

Never did it carry less than the formulas, 350 bytes for each send and 170 for each rank's part in another collective.
Ranks that send nothing leave 1.1 kB at the most, acknowledgements of their joining. So an account that is too large was
forged, and where more went than it explains, ranks have talked behind the recorder's back. What fits into the margin,
some kilobytes a call, is not seen: checks that rest on bytes use tensors of a megabyte.
"""

from collections.abc import Sequence

from grader.ranks.evidence import Collective
from grader.ranks.wire_formulas import sent_bytes

_TIMES_THE_FORMULA = {"reduce_scatter": 2.0, "reduce": 2.0}
_PER_CALL_BYTES = {"send": 1_500, "recv": 1_500, "barrier": 3_000}
_PER_OTHER_CALL_BYTES = 10_000
_LEAST_PER_SEND_BYTES, _LEAST_PER_CALL_BYTES = 250, 100
_HEADERS = 1.03
_PER_GROUP_BYTES = 16_000
_ANYWAY_BYTES = 32_000


def _least_around_bytes(call: Collective) -> int:
    """What gloo's own messages for a rank's call take at least."""
    if len(call.ranks) < 2 or call.kind == "recv":
        return 0
    return _LEAST_PER_SEND_BYTES if call.kind == "send" else _LEAST_PER_CALL_BYTES


def contradiction(collectives: Sequence[Sequence[Collective]], outside_bytes: int) -> str:
    """What is wrong between the account and what was counted outside, in words; "" where nothing is.

    Args:
        collectives: of each rank, as recorded.
        outside_bytes: on the loopback device from before the first call to after the last.
    """
    calls = [each for mine in collectives for each in mine]
    least = sum(sent_bytes(each) + _least_around_bytes(each) for each in calls)
    if outside_bytes < least:
        return "the ranks account for messages that were never on the wire"
    explained = sum(_TIMES_THE_FORMULA.get(each.kind, 1.0) * float(sent_bytes(each)) for each in calls)
    around = sum(_PER_CALL_BYTES.get(each.kind, _PER_OTHER_CALL_BYTES) for each in calls)
    groups = len({each.ranks for each in calls})
    most = explained * _HEADERS + around + groups * _PER_GROUP_BYTES + _ANYWAY_BYTES
    if outside_bytes > most:
        return "the ranks sent more over the network than torch.distributed was asked for"
    return ""
