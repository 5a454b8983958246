"""Hidden checks of cuts.py: random models, batches and groups against the reference."""

import pytest

from specs import Gpt, GpuShare

NO_SHARE = "a GpuShare is needed"


def random_gpt(rng, heads_divisor=1, sequence_divisor=1):
    """A GPT whose sizes are all different and whose heads and tokens can be dealt out."""
    heads = heads_divisor * rng.randint(2, 6)
    return Gpt(
        layers=rng.randint(5, 40),
        hidden=heads * rng.randint(11, 60),
        heads=heads,
        vocab=rng.randint(2000, 5000),
        sequence=sequence_divisor * rng.randint(9, 90),
    )


def check_held(function, right, expect, calls):
    """The bytes held; `calls` maps a case to its arguments."""
    for case, arguments in calls.items():
        got = function(*arguments)
        expect.that(isinstance(got, GpuShare), f"{case}: {NO_SHARE}")
        expect.terms(got.held, right(*arguments).held, case=case)


def check_sent(function, right, expect, calls):
    """The names, and every collective's count and bytes."""
    for case, arguments in calls.items():
        got, wanted = function(*arguments), right(*arguments)
        expect.that(isinstance(got, GpuShare), f"{case}: {NO_SHARE}")
        expect.equal(got.replicated, wanted.replicated, case=f"{case}, replicated")
        expect.equal(got.sharded, wanted.sharded, case=f"{case}, sharded")
        used = {(use.kind, use.tensor): use for use in got.collectives}
        needed = {(use.kind, use.tensor): use for use in wanted.collectives}
        expect.that(set(used) == set(needed), f"{case}: these are not the collectives of this cut")
        for (kind, tensor), use in needed.items():
            what = f"{kind} of {tensor}"
            expect.number(used[kind, tensor].count, use.count, case=f"{case}, count of {what}")
            expect.number(
                used[kind, tensor].sent_bytes, use.sent_bytes, case=f"{case}, bytes sent by {what}", rel=1e-9
            )


def batches(rng):
    """Calls of data_parallel: even and uneven shares, fewer sequences than GPUs, one GPU."""
    gpus, more = rng.randint(3, 60), rng.randint(2, 9)
    return {
        "an even batch": (random_gpt(rng), gpus * more, gpus),
        "an uneven batch": (random_gpt(rng), gpus * more + rng.randint(1, gpus - 1), gpus),
        "fewer sequences than GPUs": (random_gpt(rng), gpus - 1, gpus),
        "one GPU": (random_gpt(rng), more, 1),
    }


@pytest.mark.exercise("sharding.data_parallel", weight=2)
def test_data_parallel_of_any_batch(submission, expect, oracle, rng):
    """What a GPU holds, whether or not the batch divides."""
    check_held(submission.sharding.data_parallel, oracle.sharding.data_parallel, expect, batches(rng))


@pytest.mark.exercise("sharding.data_parallel")
def test_data_parallel_sends_whatever_the_batch(submission, expect, oracle, rng):
    """What a GPU sends depends on the model and the group."""
    check_sent(submission.sharding.data_parallel, oracle.sharding.data_parallel, expect, batches(rng))


def microbatches(rng, heads=False, sequence=False):
    """Calls of the cuts that take micro-batches: several GPUs, two, and one."""
    calls = {}
    for gpus, case in ((rng.randint(3, 9), "several GPUs"), (2, "two GPUs"), (1, "one GPU")):
        gpt = random_gpt(rng, gpus if heads else 1, gpus if sequence else 1)
        calls[case] = (gpt, rng.randint(2, 7), rng.randint(2, 9), gpus)
    return calls


@pytest.mark.exercise("sharding.tensor_parallel", weight=3)
def test_tensor_parallel_of_any_model(submission, expect, oracle, rng):
    """What a GPU holds of any model, whether or not the vocabulary divides."""
    calls = microbatches(rng, heads=True)
    check_held(submission.sharding.tensor_parallel, oracle.sharding.tensor_parallel, expect, calls)


@pytest.mark.exercise("sharding.tensor_parallel", weight=3)
def test_tensor_parallel_sends_for_any_model(submission, expect, oracle, rng):
    """What a GPU sends, and what is whole on it."""
    calls = microbatches(rng, heads=True)
    check_sent(submission.sharding.tensor_parallel, oracle.sharding.tensor_parallel, expect, calls)


@pytest.mark.exercise("sharding.sequence_parallel", weight=2)
def test_sequence_parallel_of_any_model(submission, expect, oracle, rng):
    """What a GPU holds of any model whose heads and tokens divide."""
    calls = microbatches(rng, heads=True, sequence=True)
    check_held(submission.sharding.sequence_parallel, oracle.sharding.sequence_parallel, expect, calls)


@pytest.mark.exercise("sharding.sequence_parallel", weight=2)
def test_sequence_parallel_sends_for_any_model(submission, expect, oracle, rng):
    """What a GPU sends, and what is whole on it."""
    calls = microbatches(rng, heads=True, sequence=True)
    check_sent(submission.sharding.sequence_parallel, oracle.sharding.sequence_parallel, expect, calls)


def stages(rng):
    """Calls of pipeline_parallel: first, inner and last stages; few micro-batches and many; one stage."""
    calls = {}
    for case, many in (("many micro-batches", True), ("few micro-batches", False)):
        count = rng.randint(4, 9)
        layers = count * rng.randint(1, 4) + rng.randint(1, count - 1)  # some stages have one more
        gpt = random_gpt(rng).model_copy(update={"layers": layers})
        for where, stage in (("first", 0), ("inner", rng.randint(1, count - 2)), ("last", count - 1)):
            runs = rng.randint(10, 40) if many else 2
            calls[f"{where} stage, {case}"] = (gpt, rng.randint(2, 7), runs, count, stage)
    return calls | {"one stage": (random_gpt(rng), 3, 5, 1, 0)}


@pytest.mark.exercise("sharding.pipeline_parallel", weight=3)
def test_any_stage_of_any_pipeline(submission, expect, oracle, rng):
    """What a stage holds, whether or not the layers divide."""
    calls = stages(rng)
    check_held(submission.sharding.pipeline_parallel, oracle.sharding.pipeline_parallel, expect, calls)


@pytest.mark.exercise("sharding.pipeline_parallel", weight=2)
def test_any_stage_sends(submission, expect, oracle, rng):
    """What a stage sends on, back, and across."""
    calls = stages(rng)
    check_sent(submission.sharding.pipeline_parallel, oracle.sharding.pipeline_parallel, expect, calls)


def zero_calls(rng):
    """Calls of zero: every stage with even and uneven batches and units, and one GPU."""
    return {
        f"{case}, stage {stage}": (*call, stage) for stage in (1, 2, 3) for case, call in batches(rng).items()
    }


@pytest.mark.exercise("sharding.zero", weight=3)
def test_any_stage_of_zero(submission, expect, oracle, rng):
    """What a GPU holds at every stage, padding included."""
    check_held(submission.sharding.zero, oracle.sharding.zero, expect, zero_calls(rng))


@pytest.mark.exercise("sharding.zero", weight=3)
def test_any_stage_of_zero_sends(submission, expect, oracle, rng):
    """What a GPU gathers and scatters at every stage."""
    check_sent(submission.sharding.zero, oracle.sharding.zero, expect, zero_calls(rng))


@pytest.mark.exercise("sharding.context_parallel", weight=2)
def test_context_parallel_of_any_model(submission, expect, oracle, rng):
    """What a GPU holds of any model whose tokens divide."""
    calls = microbatches(rng, sequence=True)
    check_held(submission.sharding.context_parallel, oracle.sharding.context_parallel, expect, calls)


@pytest.mark.exercise("sharding.context_parallel", weight=3)
def test_context_parallel_sends_for_any_model(submission, expect, oracle, rng):
    """What a GPU passes on round the ring."""
    calls = microbatches(rng, sequence=True)
    check_sent(submission.sharding.context_parallel, oracle.sharding.context_parallel, expect, calls)


def expert_calls(rng):
    """Calls of expert_parallel: one expert on a GPU and several, any top_k, one GPU."""
    calls = {}
    for case, gpus, own in (("one on each GPU", 6, 1), ("several on each", 4, 3), ("one GPU", 1, 5)):
        experts = gpus * own
        top_k = rng.randint(2, experts - 1)
        calls[case] = (random_gpt(rng), experts, top_k, rng.randint(2, 7), rng.randint(2, 9), gpus)
    return calls


@pytest.mark.exercise("sharding.expert_parallel", weight=2)
def test_expert_parallel_of_any_model(submission, expect, oracle, rng):
    """What a GPU holds, one expert or several."""
    calls = expert_calls(rng)
    check_held(submission.sharding.expert_parallel, oracle.sharding.expert_parallel, expect, calls)


@pytest.mark.exercise("sharding.expert_parallel", weight=3)
def test_expert_parallel_sends_for_any_model(submission, expect, oracle, rng):
    """What a GPU sends to the experts of others."""
    calls = expert_calls(rng)
    check_sent(submission.sharding.expert_parallel, oracle.sharding.expert_parallel, expect, calls)
