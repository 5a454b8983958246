"""Visible checks of cuts.py, section 2: the batch, the state, the sequence, the experts."""

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


STATE = "weights gradients optimizer"


@pytest.mark.exercise("sharding.data_parallel")
def test_data_parallel_holds_the_whole_state_and_some_sequences(submission, expect):
    """Sixteen bytes a parameter on every GPU, however many there are; the sequences are shared out."""
    wanted = {
        "8 sequences on 4 GPUs": ((TINY, 8, 4), (10_816, 10_816, 64_896, 73_728)),
        "8 sequences on 1 GPU": ((TINY, 8, 1), (10_816, 10_816, 64_896, 294_912)),
        # 174,615,822,336 parameters; a sequence keeps 96·2048·(34·12288 + 5·96·2048) bytes.
        "GPT-3, 64 on 64 GPUs": (
            (GPT3, 64, 64),
            (349_231_644_672, 349_231_644_672, 2_095_389_868_032, 275_414_777_856),
        ),
    }
    check_held(submission.sharding.data_parallel, expect, wanted)


@pytest.mark.exercise("sharding.data_parallel")
def test_where_sequences_do_not_divide_the_fuller_gpu_counts(submission, expect):
    """Seven sequences on three GPUs: one of them has three."""
    wanted = {
        "7 sequences on 3 GPUs": ((TINY, 7, 3), (10_816, 10_816, 64_896, 110_592)),
        "9 sequences on 4 GPUs": ((TINY, 9, 4), (10_816, 10_816, 64_896, 110_592)),
        "2 sequences on 3 GPUs": ((TINY, 2, 3), (10_816, 10_816, 64_896, 36_864)),
    }
    check_held(submission.sharding.data_parallel, expect, wanted)


@pytest.mark.exercise("sharding.data_parallel")
def test_data_parallel_all_reduces_gradients_once(submission, expect):
    """One all-reduce of 2 bytes a parameter a step, and none on one GPU."""
    wanted = {
        # 2·(3/4)·10,816
        "4 GPUs": ((TINY, 8, 4), STATE, "activations", {("all_reduce", "gradients"): (1, 16_224)}),
        "3 GPUs": ((TINY, 7, 3), STATE, "activations", {("all_reduce", "gradients"): (1, 43_264 / 3)}),
        "1 GPU": ((TINY, 8, 1), STATE, "activations", {}),
    }
    check_sent(submission.sharding.data_parallel, expect, wanted)


@pytest.mark.exercise("sharding.zero", weight=2)
def test_each_stage_of_zero_shards_one_thing_more(submission, expect):
    """On 4 GPUs: optimizer state, then gradients, then weights are a quarter."""
    wanted = {
        "stage 1": ((TINY, 8, 4, 1), (10_816, 10_816, 16_224, 73_728)),
        "stage 2": ((TINY, 8, 4, 2), (10_816, 2_704, 16_224, 73_728)),
        "stage 3": ((TINY, 8, 4, 3), (2_704, 2_704, 16_224, 73_728)),
        "stage 3, 1 GPU": ((TINY, 8, 1, 3), (10_816, 10_816, 64_896, 294_912)),
    }
    check_held(submission.sharding.zero, expect, wanted)


@pytest.mark.exercise("sharding.zero")
def test_zero_pads_every_unit(submission, expect):
    """On 3 GPUs a shard of a layer is ceil(872/3) = 291, one of the embeddings ceil(176/3) = 59: 1805 in all."""
    wanted = {
        "stage 1, 3 GPUs": ((TINY, 7, 3, 1), (10_816, 10_816, 21_660, 110_592)),
        "stage 2, 3 GPUs": ((TINY, 7, 3, 2), (10_816, 3_610, 21_660, 110_592)),
        "stage 3, 3 GPUs": ((TINY, 7, 3, 3), (3_610, 3_610, 21_660, 110_592)),
    }
    check_held(submission.sharding.zero, expect, wanted)


@pytest.mark.exercise("sharding.zero", weight=2)
def test_zero_1_and_2_send_what_data_parallel_sends_and_3_half_as_much_again(submission, expect):
    """Weights gathered and gradients scattered unit by unit, 7 units; stage 3 gathers twice."""
    gather, scatter = ("all_gather", "weights"), ("reduce_scatter", "gradients")
    wanted = {
        # (3/4)·10,816 a pass
        "stage 1": (
            (TINY, 8, 4, 1),
            "weights gradients",
            "optimizer activations",
            {gather: (7, 8_112), scatter: (7, 8_112)},
        ),
        "stage 2": (
            (TINY, 8, 4, 2),
            "weights",
            "gradients optimizer activations",
            {gather: (7, 8_112), scatter: (7, 8_112)},
        ),
        "stage 3": (
            (TINY, 8, 4, 3),
            "",
            f"{STATE} activations",
            {gather: (14, 16_224), scatter: (7, 8_112)},
        ),
        # 2·1805 elements a pass
        "stage 3, 3 GPUs": (
            (TINY, 7, 3, 3),
            "",
            f"{STATE} activations",
            {gather: (14, 14_440), scatter: (7, 7_220)},
        ),
        "stage 2, 1 GPU": ((TINY, 8, 1, 2), "weights", "gradients optimizer activations", {}),
    }
    check_sent(submission.sharding.zero, expect, wanted)


@pytest.mark.exercise("sharding.zero")
def test_zero_has_three_stages(submission, expect):
    """Stages 0 and 4 do not exist here: a ValueError."""
    wanted = {"stage 4": (TINY, 8, 4, 4), "stage 0": (TINY, 8, 4, 0), "no sequences": (TINY, 0, 4, 1)}
    check_refused(submission.sharding.zero, expect, (TINY, 8, 4, 2), wanted)


@pytest.mark.exercise("sharding.context_parallel", weight=2)
def test_context_parallel_holds_its_tokens_and_no_scores(submission, expect):
    """The whole state, and 34 bytes for each channel of the tokens that the GPU has."""
    # 2 sequences of 4 tokens: 6·34·8·8
    wanted = {
        "3 GPUs, 2 sequences": ((TINY, 2, 3, 3), (10_816, 10_816, 64_896, 13_056)),
        "4 GPUs, 1 sequence": ((TINY, 1, 1, 4), (10_816, 10_816, 64_896, 4_896)),
        "1 GPU, 2 sequences": ((TINY, 2, 1, 1), (10_816, 10_816, 64_896, 39_168)),
    }
    check_held(submission.sharding.context_parallel, expect, wanted)


@pytest.mark.exercise("sharding.context_parallel", weight=2)
def test_keys_and_values_go_round_twice_and_their_gradients_once(submission, expect):
    """n−1 hops forward and n−1 backward for a block, n for its gradient; weights' gradients are all-reduced."""
    keys, gradients, weights = (
        ("send", "keys_values"),
        ("send", "keys_values_gradients"),
        ("all_reduce", "gradients"),
    )
    wanted = {
        # 2·8·8·2 = 256 bytes a hop; 6 layers, 3 micro-batches
        "3 GPUs, 2 sequences, 3 micro-batches": (
            (TINY, 2, 3, 3),
            STATE,
            "activations",
            {keys: (72, 18_432), gradients: (54, 13_824), weights: (1, 43_264 / 3)},
        ),
        # 2·3·8·2 = 96 bytes a hop
        "4 GPUs": (
            (TINY, 1, 1, 4),
            STATE,
            "activations",
            {keys: (36, 3_456), gradients: (24, 2_304), weights: (1, 16_224)},
        ),
        "1 GPU": ((TINY, 2, 1, 1), STATE, "activations", {}),
    }
    check_sent(submission.sharding.context_parallel, expect, wanted)


@pytest.mark.exercise("sharding.context_parallel")
def test_a_sequence_that_does_not_divide_is_refused(submission, expect):
    """Twelve tokens cannot be dealt out to five GPUs."""
    wanted = {"12 tokens on 5 GPUs": (TINY, 1, 1, 5), "no micro-batches": (TINY, 1, 0, 3)}
    check_refused(submission.sharding.context_parallel, expect, (TINY, 1, 1, 6), wanted)


@pytest.mark.exercise("sharding.expert_parallel", weight=2)
def test_a_gpu_holds_its_own_experts_and_all_the_rest(submission, expect):
    """Two of eight experts a layer, and attention, norms, routers and embeddings whole."""
    # An expert: 8·64 + 5·8 = 552. The rest: 5408 + 6·(8·8 − 552) = 2480. Experts: 6·2·552 = 6624. Activations:
    # 6·12·((16 + 18·2)·8 + 5·4·12) = 47,232.
    wanted = {
        "8 experts, 2 of them, 4 GPUs": ((TINY, 8, 2, 1, 2, 4), (18_208, 18_208, 109_248, 47_232)),
        "8 experts, 1 of them, 8 GPUs": ((TINY, 8, 1, 3, 1, 8), (11_584, 11_584, 69_504, 110_592)),
        "8 experts, 2 of them, 1 GPU": ((TINY, 8, 2, 1, 1, 1), (57_952, 57_952, 347_712, 47_232)),
    }
    check_held(submission.sharding.expert_parallel, expect, wanted)


@pytest.mark.exercise("sharding.expert_parallel", weight=2)
def test_tokens_go_to_their_experts_and_home(submission, expect):
    """Two all-to-alls a layer forward and two backward, of top_k copies of each token; the rest is all-reduced."""
    out, back, rest = (
        ("all_to_all", "activations"),
        ("all_to_all", "activation_gradients"),
        ("all_reduce", "gradients"),
    )
    names = ("everything_else", "experts activations")
    wanted = {
        # (3/4)·12·2·8·2 = 288 bytes each, 2·6·2 of them; 2·(3/4)·2·2480
        "8 experts, 2 of them, 4 GPUs, 2 micro-batches": (
            (TINY, 8, 2, 1, 2, 4),
            *names,
            {out: (24, 6_912), back: (24, 6_912), rest: (1, 7_440)},
        ),
        # (7/8)·3·12·8·2 = 504 bytes each
        "8 experts, 1 of them, 8 GPUs, 3 sequences": (
            (TINY, 8, 1, 3, 1, 8),
            *names,
            {out: (12, 6_048), back: (12, 6_048), rest: (1, 8_680)},
        ),
        "8 experts, 2 of them, 1 GPU": ((TINY, 8, 2, 1, 1, 1), *names, {}),
    }
    check_sent(submission.sharding.expert_parallel, expect, wanted)


@pytest.mark.exercise("sharding.expert_parallel")
def test_experts_that_do_not_divide_are_refused(submission, expect):
    """Eight experts on three GPUs, or nine of eight for a token: a ValueError."""
    wanted = {"8 experts on 3 GPUs": (TINY, 8, 2, 1, 1, 3), "9 of 8 experts": (TINY, 8, 9, 1, 1, 4)}
    check_refused(submission.sharding.expert_parallel, expect, (TINY, 8, 8, 1, 1, 4), wanted)
