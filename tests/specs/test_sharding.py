"""What the exercises on cuts are given and return: a GPT counted by its parts, and shares that are built leniently."""

import pytest

from specs import CollectiveUse, Gpt, GpuShare, HeldBytes, Link, SpecError

HELD = HeldBytes(weights=1, gradients=2, optimizer=3, activations=4)


def share(replicated=(), sharded=(), collectives=()):
    return GpuShare(held=HELD, replicated=replicated, sharded=sharded, collectives=collectives)


def use(kind="send", tensor="weights", count=1, sent_bytes=8):
    return CollectiveUse(kind=kind, tensor=tensor, count=count, sent_bytes=sent_bytes)


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "billions"),
    # Narayanan et al. 2021 (arXiv 2104.04473), table 1; sequence 2048, vocabulary 51,200.
    [
        (24, 2304, 24, 1.7),
        (30, 3072, 32, 3.6),
        (36, 4096, 32, 7.5),
        (40, 6144, 48, 18.4),
        (48, 8192, 64, 39.1),
        (60, 10240, 80, 76.1),
        (80, 12288, 96, 145.6),
        (96, 16384, 128, 310.1),
        (105, 20480, 128, 529.6),
        (128, 25600, 160, 1008.0),
    ],
)
def test_a_gpt_has_the_parameters_that_megatron_prints(layers, hidden, heads, billions):
    gpt = Gpt(layers=layers, hidden=hidden, heads=heads, vocab=51_200, sequence=2048)
    assert round(gpt.parameters / 1e9, 1) == billions


def test_the_parts_of_a_gpt_are_equation_2_of_the_paper():
    gpt = Gpt(layers=7, hidden=24, heads=6, vocab=101, sequence=40)
    rest = 1 + 13 / (12 * 24) + (101 + 40) / (12 * 7 * 24)
    assert gpt.parameters == pytest.approx(12 * 7 * 24**2 * rest, rel=1e-12)
    assert gpt.matrices + gpt.column_biases + gpt.row_biases + gpt.norms == gpt.layer
    attention = 4 * 24**2 + 4 * 24
    assert gpt.layer == gpt.mlp + attention + gpt.norms


def test_heads_divide_hidden():
    with pytest.raises(ValueError, match="heads = 5 must divide hidden = 24"):
        Gpt(layers=7, hidden=24, heads=5, vocab=101, sequence=40)


@pytest.mark.parametrize("fields", [{"latency_s": -1}, {"bandwidth_bytes_per_s": 0}])
def test_a_link_has_no_negative_latency_and_some_bandwidth(fields):
    with pytest.raises(ValueError, match=next(iter(fields))):
        Link(**({"latency_s": 0, "bandwidth_bytes_per_s": 1} | fields))


@pytest.mark.parametrize("names", [["norms", "layers"], {"layers", "norms"}, ("norms", "layers", "norms")])
def test_names_come_in_any_container_and_order(names):
    assert share(replicated=names) == share(replicated=("layers", "norms"))


def test_uses_of_one_kind_for_one_tensor_are_added_up_in_any_order():
    apart = share(collectives=[use(count=2), use(kind="all_gather"), use(count=3, sent_bytes=5)])
    together = share(collectives=(use(kind="all_gather"), use(count=5, sent_bytes=13)))
    assert apart == together
    assert apart.sent_bytes == 21


def test_a_use_that_never_happens_is_left_out():
    assert share(collectives=(use(count=0), use(kind="all_gather"))) == share(
        collectives=(use(kind="all_gather"),)
    )


def test_a_share_comes_back_from_its_plain_form():
    made = share({"norms"}, {"layers"}, (use(), use(tensor="gradients")))
    assert GpuShare.model_validate(made.model_dump()) == made


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: share(replicated="norms"), "replicated: .*not a single str: write \\('norms',\\)"),
        (lambda: share(sharded=("norm",)), "sharded.0: input should be .*'norms'"),
        (lambda: share(sharded=(1,)), "sharded.0"),
        (lambda: share(collectives=use()), r"collectives: .*write \(CollectiveUse\(\.\.\.\),\)"),
        (lambda: share(collectives=("send",)), "collectives.0"),
        (lambda: use(kind="sned"), "kind: input should be 'all_reduce', .*'send'"),
        (lambda: use(tensor="norms"), "tensor: input should be"),
        (lambda: use(count=-1), "count: input should be greater than or equal to 0"),
        (lambda: use(count=1.0), "count: input should be a valid integer"),
        (lambda: use(count=True), "count: input should be a valid integer"),
        (lambda: use(sent_bytes="8"), "sent_bytes: a number is needed here, not str"),
        (lambda: GpuShare(HELD, ()), "sharded, collectives are missing"),
        (lambda: GpuShare(held=4, replicated=(), sharded=(), collectives=()), "held: "),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(make, said):
    with pytest.raises(SpecError, match=said) as refusal:
        make()
    assert "\n" not in str(refusal.value)
