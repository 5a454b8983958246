"""The gradients are all-reduced."""

from specs import Gpt, GpuShare

from ..cuts import zero as right

EXERCISE = "zero"
HINT = "A GPU needs the sum of its own shard only: a reduce-scatter does, at half the bytes."
FAILS = (
    "test_zero_1_and_2_send_what_data_parallel_sends_and_3_half_as_much_again",
    "test_any_stage_of_zero_sends",
)


def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    got = right(gpt, batch, gpus, stage)
    uses = tuple(
        use.model_copy(update={"kind": "all_reduce", "sent_bytes": 2 * use.sent_bytes})
        if use.kind == "reduce_scatter"
        else use
        for use in got.collectives
    )
    return got.model_copy(update={"collectives": tuple(sorted(uses, key=lambda use: (use.kind, use.tensor)))})
