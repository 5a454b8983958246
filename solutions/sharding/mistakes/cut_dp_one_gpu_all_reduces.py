"""An all-reduce is listed for a group of one GPU."""

from specs import CollectiveUse, Gpt, GpuShare

from ..cuts import data_parallel as right

EXERCISE = "data_parallel"
HINT = "One GPU alone runs no collective: leave it out where there is nobody to send to."
FAILS = ("test_data_parallel_all_reduces_gradients_once", "test_data_parallel_sends_whatever_the_batch")


def data_parallel(gpt: Gpt, batch: int, gpus: int) -> GpuShare:
    got = right(gpt, batch, gpus)
    if gpus > 1:
        return got
    alone = CollectiveUse(kind="all_reduce", tensor="gradients", count=1, sent_bytes=0)
    return got.model_copy(update={"collectives": (alone,)})
