"""Thresholds: what an unmeasured row gives, what a measurement must bear out, and what carries over to another card."""

import copy

import pytest

from specs.assignment import assignment
from specs.gpu import gpu, gpus
from specs.schema import SpecError, validate
from specs.timing import SAME_CHIP, Measured, Timing

SHIPPED = assignment("flash_attention").exercise("performance").timing
ISSUE_ROWS = {"h100-sxm", "h100-pcie", "h200-sxm", "a100-sxm-80gb"}
CARDS = {"h100-sxm": "NVIDIA H100 80GB HBM3", "h200-sxm": "NVIDIA H200", "h100-pcie": "NVIDIA H100 PCIe"}


def record(name="h100-sxm", **changed):
    """A measured record of the shipped shapes; every figure of it is made up."""
    plain = {
        "who": "nobody",
        "measured_on": "2000-01-01",
        "gpu": name,
        "card": CARDS[name],
        "driver": "0.0",
        "torch": "0",
        "triton": "0",
        "sm_clock_mhz": [1, 2],
        "copy_gb_per_s": 1,
        "bf16_tflops": 1,
        "empty_call_s": 1e-6,
        "spread": 0,
        "spec_sha256": SHIPPED.sha256,
        "shapes": [
            {"shape": each.label, "baseline_s": 1.0, "solution_ratio": 1.2, "naive_ratio": 9}
            for each in SHIPPED.shapes
        ],
    }
    return {**plain, **changed}


def timing(**measured):
    """The shipped timing with these records in its rows."""
    data = SHIPPED.model_dump(mode="json")
    for name, each in measured.items():
        data["thresholds"][name.replace("_", "-")]["measured"] = each
    return validate(Timing, data, "test")


def test_every_card_that_the_course_names_has_a_row_and_none_is_measured():
    assert ISSUE_ROWS <= set(SHIPPED.thresholds) <= {each.name for each in gpus()}
    for name in SHIPPED.thresholds:
        assert SHIPPED.status(name) == "unmeasured"
        assert "no GPU was reached" in SHIPPED.thresholds[name].provenance


def test_points_on_an_unmeasured_card_stay_pending_unless_the_instructor_accepts_ratios():
    assert SHIPPED.curve("h100-sxm") is None
    accepted = SHIPPED.curve("h100-sxm", accept_unmeasured=True)
    assert (accepted.full_ratio, accepted.zero_ratio) == (1.5, 3)
    assert SHIPPED.status("l4") == "none"
    assert SHIPPED.curve("l4", accept_unmeasured=True) is None


@pytest.mark.parametrize("name", sorted(SHIPPED.thresholds))
def test_a_naive_kernel_is_at_zero_wherever_the_baseline_reaches_a_third_of_the_peak(name):
    """By data sheets: four passes over the scores from and to HBM, against the products at a third of the peak."""
    card = gpu(name)

    def ratio(shape):
        scores_bytes = 2.0 * shape.batch * shape.heads * shape.tokens**2
        return 4 * scores_bytes / card.hbm_bytes_per_s / (shape.flops / (card.peak_flops("bf16") / 3))

    forward = [each for each in SHIPPED.shapes if each.direction == "forward"]
    assert max(map(ratio, forward)) > SHIPPED.thresholds[name].zero_ratio


def test_a_measured_row_gives_points_and_its_own_times():
    measured = timing(h100_sxm=record())
    assert measured.status("h100-sxm") == "measured"
    assert measured.curve("h100-sxm").measured.who == "nobody"
    assert measured.baseline_s("h100-sxm", SHIPPED.shapes[0]) == 1.0


@pytest.mark.parametrize(("on", "other"), [("h100-sxm", "h200-sxm"), ("h200-sxm", "h100-sxm")])
def test_a_ratio_carries_over_between_h100_and_h200_and_a_time_does_not(on, other):
    measured = timing(**{on: record(on)})
    assert measured.status(other) == "carried"
    assert measured.curve(other).measured.gpu == on
    assert measured.baseline_s(other, SHIPPED.shapes[0]) is None


def test_nothing_carries_over_to_another_chip():
    measured = timing(h100_sxm=record())
    for name in ("h100-pcie", "a100-sxm-80gb"):
        assert measured.status(name) == "unmeasured"
        assert measured.curve(name) is None


def test_cards_of_one_chip_differ_in_their_memory_only():
    for cards in SAME_CHIP:
        sheets = [gpu(name) for name in cards]
        assert (
            len(
                {(each.compute_capability, each.sms, each.peak_flops("bf16"), each.l2_mib) for each in sheets}
            )
            == 1
        )


def wrong(**changed):
    data = record()
    data["shapes"][1] = {**data["shapes"][1], **changed}
    return data


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (wrong(solution_ratio=1.6), "solution itself takes 1.6 times"),
        (
            {**record(), "shapes": [{**each, "naive_ratio": 2.5} for each in record()["shapes"]]},
            "naive kernel takes 2.5",
        ),
        (record("h200-sxm"), "measured on h200-sxm; times do not carry over"),
        (record(card="NVIDIA H200"), "is h200-sxm, not h100-sxm"),
        (record(card="A card"), "no GPU of specs/gpus.yaml"),
        (record(spec_sha256="0"), "other shapes or another baseline"),
        ({**record(), "shapes": record()["shapes"][:2]}, "other shapes or another baseline"),
        (record(empty_call_s=0), "greater than 0"),
        (record(bf16_tflops=float("nan")), "finite number"),
        (record(spread=-0.1), "greater than or equal to 0"),
    ],
)
def test_a_record_that_does_not_bear_its_row_out_is_refused_in_one_line(found, words):
    with pytest.raises(SpecError, match=words) as caught:
        timing(h100_sxm=found)
    assert "\n" not in str(caught.value)


def test_a_naive_kernel_that_did_not_fit_is_as_slow_as_can_be():
    shapes = [{**each, "naive_ratio": None} for each in record()["shapes"]]
    assert timing(h100_sxm=record(shapes=shapes)).status("h100-sxm") == "measured"


def test_the_hash_is_of_what_is_timed_and_not_of_the_curves():
    data = SHIPPED.model_dump(mode="json")
    other = copy.deepcopy(data)
    other["thresholds"] = {}
    assert validate(Timing, other, "test").sha256 == SHIPPED.sha256
    other["shapes"][0]["tokens"] *= 2
    assert validate(Timing, other, "test").sha256 != SHIPPED.sha256


def test_a_record_survives_plain_data():
    made = Measured.model_validate(record())
    assert Measured.model_validate(made.model_dump(mode="json")) == made
