"""Visible checks of cuts.py, section 2: the matmuls, the residual stream, the depth."""

import pytest

from specs import Gpt, GpuShare, HeldBytes

# Small enough for pencil and paper: a layer has 768 + 56 + 16 + 32 = 872 parameters, the embeddings have 80 and 96,
# the model 5408: 10,816 bytes of weights, as many of gradients, 64,896 of optimizer state. One layer keeps
# 12·(34·8 + 5·4·12) = 6144 bytes of a sequence, six keep 36,864. The residual stream of one is 12·8·2 = 192 bytes.
TINY = Gpt(layers=6, hidden=8, heads=4, vocab=10, sequence=12)
# Narayanan et al. 2021, table 1: 174.6 billion parameters.
GPT3 = Gpt(layers=96, hidden=12288, heads=96, vocab=51200, sequence=2048)


def shares(function, expect, wanted):
    """Every case is asked for before the first is compared; fails unless all are GpuShare."""
    got = {case: function(*arguments) for case, (arguments, *_) in wanted.items()}
    for case, share in got.items():
        expect.that(isinstance(share, GpuShare), f"{case}: a GpuShare is needed")
    return got


def check_held(function, expect, wanted):
    """`wanted` maps a case to (arguments, bytes of weights, gradients, optimizer state and activations)."""
    for case, got in shares(function, expect, wanted).items():
        weights, gradients, optimizer, activations = wanted[case][1]
        right = HeldBytes(weights=weights, gradients=gradients, optimizer=optimizer, activations=activations)
        expect.terms(got.held, right, unit="bytes", case=case)


def check_sent(function, expect, wanted):
    """`wanted` maps a case to (arguments, replicated, sharded, {(kind, tensor): (count, bytes sent)})."""
    for case, got in shares(function, expect, wanted).items():
        _, replicated, sharded, collectives = wanted[case]
        for field, names in (("replicated", replicated), ("sharded", sharded)):
            expect.equal(getattr(got, field), tuple(sorted(names.split())), case=f"{case}, {field}")
        used = {(use.kind, use.tensor): (use.count, use.sent_bytes) for use in got.collectives}
        for kind, tensor in sorted(set(used) | set(collectives)):
            what = f"{kind} of {tensor}"
            expect.that((kind, tensor) in collectives, f"{case}: there is no {what} here")
            expect.that((kind, tensor) in used, f"{case}: the {what} is missing")
            count, sent_bytes = collectives[kind, tensor]
            expect.number(used[kind, tensor][0], count, case=f"{case}, count of {what}")
            expect.number(used[kind, tensor][1], sent_bytes, case=f"{case}, bytes sent by {what}", rel=1e-9)


def check_refused(function, expect, allowed, wanted):
    """`allowed` must be answered; each of `wanted`, what is wrong to its arguments, must raise a ValueError."""
    function(*allowed)
    for case, arguments in wanted.items():
        raised = function.probed("raised", *arguments)
        if raised == "":
            expect.that(
                False, f"{case}: it returned something; raise a ValueError", symptom=f"accepts {case}"
            )
        expect.that(raised == "ValueError", f"{case}: a ValueError is needed")


WHOLE = "row_biases norms position_embedding"
CUT = "matrices column_biases token_embedding block_activations"


@pytest.mark.exercise("sharding.tensor_parallel", weight=2)
def test_tensor_parallel_cuts_matrices_and_the_inside_of_blocks(submission, expect):
    """Norms, row biases, positions and the residual stream stay whole; all else is divided by t."""
    wanted = {
        # 6·824/2 + 5·8 + 6·48 + 96 = 2896 parameters; 6·(10·96 + (24·96 + 5·4·144)/2) bytes of activations
        "2 GPUs": ((TINY, 1, 1, 2), (5_792, 5_792, 34_752, 21_312)),
        "2 GPUs, 2 sequences, 3 micro-batches": ((TINY, 2, 3, 2), (5_792, 5_792, 34_752, 42_624)),
        "1 GPU": ((TINY, 2, 3, 1), (10_816, 10_816, 64_896, 73_728)),
        "GPT-3 on 8 GPUs": (
            (GPT3, 1, 1, 8),
            (43_710_382_080, 43_710_382_080, 262_262_292_480, 55_566_139_392),
        ),
    }
    check_held(submission.sharding.tensor_parallel, expect, wanted)


@pytest.mark.exercise("sharding.tensor_parallel")
def test_rows_of_the_embedding_are_padded(submission, expect):
    """Ten rows on four GPUs are three on each."""
    # 6·824/4 + 3·8 + 6·48 + 96 = 1644 parameters
    wanted = {
        "10 rows on 4 GPUs": ((TINY, 1, 1, 4), (3_288, 3_288, 19_728, 13_536)),
        "12 rows on 4 GPUs": (
            (TINY.model_copy(update={"vocab": 12}), 1, 1, 4),
            (3_288, 3_288, 19_728, 13_536),
        ),
        "13 rows on 4 GPUs": (
            (TINY.model_copy(update={"vocab": 13}), 1, 1, 4),
            (3_304, 3_304, 19_824, 13_536),
        ),
    }
    check_held(submission.sharding.tensor_parallel, expect, wanted)


@pytest.mark.exercise("sharding.tensor_parallel", weight=2)
def test_tensor_parallel_all_reduces_four_times_a_layer_and_micro_batch(submission, expect):
    """Two blocks a layer, each with an all-reduce of the residual stream forward and one backward."""
    # 6 layers: 12 a direction; each sends 2·(t−1)/t of 192 bytes a sequence.
    whole = f"{WHOLE} residual_activations"
    wanted = {
        "2 GPUs": (
            (TINY, 1, 1, 2),
            whole,
            CUT,
            {
                ("all_reduce", "activations"): (12, 2_304),
                ("all_reduce", "activation_gradients"): (12, 2_304),
            },
        ),
        "4 GPUs, 2 sequences, 3 micro-batches": (
            (TINY, 2, 3, 4),
            whole,
            CUT,
            {
                ("all_reduce", "activations"): (36, 20_736),
                ("all_reduce", "activation_gradients"): (36, 20_736),
            },
        ),
        "1 GPU": ((TINY, 1, 1, 1), whole, CUT, {}),
    }
    check_sent(submission.sharding.tensor_parallel, expect, wanted)


@pytest.mark.exercise("sharding.tensor_parallel")
def test_heads_that_do_not_divide_are_refused(submission, expect):
    """Four heads cannot be dealt out to three GPUs."""
    wanted = {
        "4 heads on 3 GPUs": (TINY, 1, 1, 3),
        "4 heads on 8 GPUs": (TINY, 1, 1, 8),
        "no GPUs": (TINY, 1, 1, 0),
        "an empty micro-batch": (TINY, 0, 1, 2),
    }
    check_refused(submission.sharding.tensor_parallel, expect, (TINY, 1, 1, 4), wanted)


@pytest.mark.exercise("sharding.sequence_parallel")
def test_sequence_parallel_divides_all_activations(submission, expect):
    """sbh/t·(34 + 5as/h) bytes a layer, and the parameters of tensor parallel."""
    wanted = {
        "2 GPUs": ((TINY, 1, 1, 2), (5_792, 5_792, 34_752, 18_432)),
        "4 GPUs, 2 sequences, 3 micro-batches": ((TINY, 2, 3, 4), (3_288, 3_288, 19_728, 18_432)),
        "GPT-3 on 8 GPUs": (
            (GPT3, 1, 1, 8),
            (43_710_382_080, 43_710_382_080, 262_262_292_480, 34_426_847_232),
        ),
    }
    check_held(submission.sharding.sequence_parallel, expect, wanted)


@pytest.mark.exercise("sharding.sequence_parallel", weight=2)
def test_sequence_parallel_gathers_and_scatters(submission, expect):
    """Forward 2 gathers and 2 reduce-scatters a layer, backward 4 and 2; and the norms' gradients once."""
    # Each sends (t−1)/t of 192 bytes a sequence. The norms and row biases: 6·48 parameters, 576 bytes.
    cut = f"{CUT} residual_activations"
    wanted = {
        "2 GPUs": (
            (TINY, 1, 1, 2),
            WHOLE,
            cut,
            {
                ("all_gather", "activations"): (24, 2_304),
                ("reduce_scatter", "activations"): (12, 1_152),
                ("all_gather", "activation_gradients"): (12, 1_152),
                ("reduce_scatter", "activation_gradients"): (12, 1_152),
                ("all_reduce", "gradients"): (1, 576),
            },
        ),
        "4 GPUs, 2 sequences, 3 micro-batches": (
            (TINY, 2, 3, 4),
            WHOLE,
            cut,
            {
                ("all_gather", "activations"): (72, 20_736),
                ("reduce_scatter", "activations"): (36, 10_368),
                ("all_gather", "activation_gradients"): (36, 10_368),
                ("reduce_scatter", "activation_gradients"): (36, 10_368),
                ("all_reduce", "gradients"): (1, 864),
            },
        ),
        "1 GPU": ((TINY, 1, 1, 1), WHOLE, cut, {}),
    }
    check_sent(submission.sharding.sequence_parallel, expect, wanted)


@pytest.mark.exercise("sharding.sequence_parallel")
def test_tokens_or_heads_that_do_not_divide_are_refused(submission, expect):
    """Neither eight heads on three GPUs nor ten tokens on four."""
    wanted = {
        "10 tokens on 4 GPUs": (TINY.model_copy(update={"sequence": 10}), 1, 1, 4),
        "4 heads on 3 GPUs": (TINY, 1, 1, 3),
    }
    check_refused(submission.sharding.sequence_parallel, expect, (TINY, 1, 1, 4), wanted)


@pytest.mark.exercise("sharding.pipeline_parallel", weight=2)
def test_the_first_stage_holds_most(submission, expect):
    """Six layers on four stages are 2, 2, 1, 1; the first stage has 4 micro-batches in flight, the last 1."""
    wanted = {
        # 2·872 + 80 + 96 = 1920 parameters; 4·2·6144 bytes of activations
        "stage 0 of 4": ((TINY, 1, 6, 4, 0), (3_840, 3_840, 23_040, 49_152)),
        "stage 1 of 4": ((TINY, 1, 6, 4, 1), (3_488, 3_488, 20_928, 36_864)),
        "stage 2 of 4": ((TINY, 1, 6, 4, 2), (1_744, 1_744, 10_464, 12_288)),
        # 872 and a copy of the token embedding, 80
        "stage 3 of 4": ((TINY, 1, 6, 4, 3), (1_904, 1_904, 11_424, 6_144)),
        "stage 0 of 4, 2 micro-batches of 3": ((TINY, 3, 2, 4, 0), (3_840, 3_840, 23_040, 73_728)),
        "one stage": ((TINY, 1, 6, 1, 0), (10_816, 10_816, 64_896, 36_864)),
    }
    check_held(submission.sharding.pipeline_parallel, expect, wanted)


@pytest.mark.exercise("sharding.pipeline_parallel", weight=2)
def test_a_stage_sends_on_forward_and_back_backward(submission, expect):
    """Every micro-batch crosses every border twice; the two copies of the embedding share their gradient."""
    # 192 bytes a sequence. The token embedding: 80 parameters, 160 bytes; of two GPUs each sends all of it.
    names = ("token_embedding", "layers activations")
    forward, backward = ("send", "activations"), ("send", "activation_gradients")
    tied = ("all_reduce", "gradients")
    wanted = {
        "stage 0 of 4": ((TINY, 1, 6, 4, 0), *names, {forward: (6, 1_152), tied: (1, 160)}),
        "stage 1 of 4": ((TINY, 1, 6, 4, 1), *names, {forward: (6, 1_152), backward: (6, 1_152)}),
        "stage 3 of 4": ((TINY, 1, 6, 4, 3), *names, {backward: (6, 1_152), tied: (1, 160)}),
        "stage 1 of 3, 2 micro-batches of 3": (
            (TINY, 3, 2, 3, 1),
            *names,
            {forward: (2, 1_152), backward: (2, 1_152)},
        ),
        "stage 1 of 2, one micro-batch": ((TINY, 1, 1, 2, 1), *names, {backward: (1, 192), tied: (1, 160)}),
        "one stage": ((TINY, 1, 6, 1, 0), *names, {}),
    }
    check_sent(submission.sharding.pipeline_parallel, expect, wanted)


@pytest.mark.exercise("sharding.pipeline_parallel")
def test_more_stages_than_layers_are_refused(submission, expect):
    """A stage without a layer, and a stage that is not there: a ValueError."""
    wanted = {
        "7 stages for 6 layers": (TINY, 1, 6, 7, 0),
        "stage 4 of 4": (TINY, 1, 6, 4, 4),
        "stage -1": (TINY, 1, 6, 4, -1),
    }
    check_refused(submission.sharding.pipeline_parallel, expect, (TINY, 1, 6, 6, 5), wanted)
