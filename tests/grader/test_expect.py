"""What a comparison accepts, and what it says when it does not."""

import math

import numpy as np
import pytest

from grader.calls.faults import CheckFailed
from grader.calls.runner import LocalRunner, Request
from grader.checks.expect import Expect
from specs import KvCacheBytes, StateBytes

RIGHT = StateBytes(weights=2, gradients=2, master=4, moments=8)
HUGE = 10**3999
NAN, INF = float("nan"), float("inf")


def complaint(method: str, *arguments, hidden: bool = False, **options) -> str:
    """The message with which a comparison fails."""
    with pytest.raises(CheckFailed) as caught:
        getattr(Expect(hidden), method)(*arguments, **options)
    return caught.value.message


def test_right_terms_pass_as_a_specs_type_and_as_a_dict():
    Expect().terms(RIGHT, RIGHT)
    Expect().terms({"weights": 2, "gradients": 2.0, "master": 4, "moments": 8}, RIGHT)
    Expect().terms(RIGHT, {"master": 4})


def test_a_wrong_term_is_named_with_case_got_expected_and_how_far():
    message = complaint("terms", RIGHT.model_copy(update={"moments": 4}), RIGHT, unit="bytes", case="adamw")
    assert message.splitlines()[0] == "adamw: moments: got 4 bytes, expected 8 bytes (0.5 × the right value)"
    assert "gradients" not in message


def test_terms_that_were_exchanged_are_called_swapped():
    message = complaint("terms", RIGHT.model_copy(update={"master": 8, "moments": 4}), RIGHT)
    assert "likely cause: master and moments are swapped" in message


def test_the_terms_of_another_type_are_refused_by_name():
    other = KvCacheBytes(keys=1, values=1, latent=0, rotary_keys=0)
    assert "and it returned KvCacheBytes; write `return StateBytes(" in complaint("terms", other, RIGHT)


@pytest.mark.parametrize("got", [16, None, [2, 2, 4, 8]])
def test_who_returns_no_terms_is_told_how_to_return_them(got):
    how = "; write `return StateBytes(weights=..., gradients=..., master=..., moments=...)`"
    assert complaint("terms", got, RIGHT).endswith(how)
    assert "write" not in complaint("terms", got, {"weights": 2})


@pytest.mark.parametrize(
    ("got", "said"),
    [
        ({"weights": 2}, "the term gradients is missing"),
        ({"weight": 2, "gradients": 2, "master": 4, "moments": 8}, "no term is called 'weight'"),
        ({}, "the term weights is missing"),
        (None, "None: is there a return?"),
        (16, "terms are needed (weights, gradients, master, moments), and it returned an int"),
        ([2, 2, 4, 8], "it returned a list"),
        (
            {"weights": True, "gradients": 2, "master": 4, "moments": 8},
            "weights: a number is needed, and it is True",
        ),
        (
            {"weights": "2", "gradients": 2, "master": 4, "moments": 8},
            "weights: a number is needed, and it is '2'",
        ),
        ({1: 2}, "no term is called 1"),
    ],
)
def test_what_is_no_set_of_terms_is_refused_with_the_reason(got, said):
    assert said in complaint("terms", got, RIGHT)


@pytest.mark.parametrize("value", [NAN, INF, -INF])
@pytest.mark.parametrize("hidden", [False, True])
def test_nan_and_infinity_never_pass(value, hidden):
    assert "is no answer" in complaint("number", value, 5.0, hidden=hidden)
    assert "is no answer" in complaint("number", value, 5.0, rel=1e9, hidden=hidden)
    assert "is no answer" in complaint("terms", {"weights": value}, {"weights": 2}, hidden=hidden)


@pytest.mark.parametrize("value", [HUGE, -HUGE])
@pytest.mark.parametrize("expected", [7, 7.5, 0, 10**30])
@pytest.mark.parametrize("hidden", [False, True])
def test_an_integer_of_4000_digits_is_a_wrong_answer_and_no_crash(value, expected, hidden):
    message = complaint("number", value, expected, unit="bytes", hidden=hidden)
    assert len(message) < 300
    assert (
        len(complaint("terms", {"weights": value}, {"weights": expected}, unit="bytes", hidden=hidden)) < 300
    )
    assert len(complaint("equal", [value], ["h100"])) < 300
    assert len(complaint("equal", value, "h100")) < 300


def test_integers_count_exactly_and_floats_to_a_billionth():
    Expect().number(10**18, 10**18)
    Expect().number(0.1 + 0.2, 0.3)
    assert "very near, and not equal" in complaint("number", 10**18 + 1, 10**18)
    assert "off by +0.01 %" in complaint("number", 10001, 10000)
    Expect().number(101, 100, rel=0.02)


def test_truth_values_are_no_numbers_and_numbers_no_truth_values():
    assert "a number is needed, and it returned True" in complaint("number", True, 1)
    assert "True or False is needed" in complaint("equal", 1, True)
    assert "True or False is needed" in complaint("equal", None, True)


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (1e9 / 2**30, "GiB and GB mixed up"),
        (2**30 / 1e9, "GiB and GB mixed up"),
        (2**20 / 1e6, "MiB and MB mixed up"),
        (1.024, "KiB and kB mixed up"),
        (8, "a factor of 8: bits and bytes mixed up"),
        (1 / 8, "a factor of 8: bits and bytes mixed up"),
        (2, "twice or half the right value"),
        (4, "a factor of 4: bytes and fp32 numbers mixed up"),
        (100, "per cent and shares"),
        (1e9, "bytes and GB"),
        (2**30, "bytes and GiB"),
    ],
)
def test_a_ratio_that_units_explain_is_explained(ratio, said):
    assert f"likely cause: {said}" in complaint(
        "number", 3e12 * ratio, 3e12, unit="bytes"
    ) or said in complaint("number", 3e12 * ratio, 3e12, unit="bytes")
    got, right = {"keys": 3e12 * ratio, "values": 5e12 * ratio}, {"keys": 3e12, "values": 5e12}
    assert said in complaint("terms", got, right, unit="bytes")


@pytest.mark.parametrize("unit", ["", "FLOPs", "FLOP/s", "parameters", "elements"])
@pytest.mark.parametrize("ratio", [3, 4, 8, 1.024, 1024, 2**20])
def test_what_only_bytes_explain_is_not_said_of_another_unit(unit, ratio):
    for factor in (ratio, 1 / ratio):
        message = complaint("terms", {"forward": 3e12 * factor}, {"forward": 3e12}, unit=unit)
        assert "likely cause" not in message


@pytest.mark.parametrize("unit", ["", "FLOPs", "bytes"])
def test_twice_the_right_value_is_said_to_be_no_more_than_that(unit):
    """A collective has no keys and values, and no FLOP has bytes."""
    message = complaint("terms", {"wire": 6e12}, {"wire": 3e12}, unit=unit)
    assert message.endswith(
        "\nlikely cause: twice or half the right value: something counted twice, or once instead of twice"
    )


@pytest.mark.parametrize("ratio", [3, 1 / 3])
def test_a_factor_of_3_has_no_cause_that_is_always_true(ratio):
    assert "likely cause" not in complaint("number", 3e12 * ratio, 3e12, unit="bytes")


def test_terms_that_are_off_by_different_factors_get_no_cause():
    message = complaint("terms", {"keys": 2.0, "values": 8.0}, {"keys": 1.0, "values": 1.0})
    assert "likely cause" not in message


def test_zero_and_the_wrong_sign_are_said_in_words():
    assert "it should be 0" in complaint("number", 5, 0)
    assert "it is 0" in complaint("number", 0, 5)
    assert "the sign is wrong" in complaint("number", -5, 5)


def test_a_number_on_the_other_side_of_0_has_not_its_sign_alone_wrong():
    assert "got -80, expected 20 (it is below 0)" in complaint("number", -80, 20)
    assert "got 3, expected -7 (it is above 0)" in complaint("number", 3, -7)


def test_large_byte_counts_are_shown_in_gb_too():
    message = complaint("number", 14_000_000_000, 28_000_000_000, unit="bytes")
    assert "got 14,000,000,000 bytes (14 GB), expected 28,000,000,000 bytes (28 GB)" in message


def test_lists_compare_as_tuples_do_and_order_counts():
    Expect().equal(["a", "b"], ("a", "b"))
    Expect().equal(("a",), ["a"])
    assert complaint("equal", ["b", "a"], ["a", "b"]) == "got ['b', 'a'], expected ['a', 'b']"
    assert "got 'a', expected ['a']" in complaint("equal", "a", ["a"])


def test_arrays_in_a_list_are_a_wrong_answer_and_no_crash():
    assert "expected ['a']" in complaint("equal", [np.array([1, 2])], ["a"])
    assert "True or False is needed" in complaint("equal", np.array([True, False]), True)


@pytest.mark.parametrize(
    ("method", "got", "expected"),
    [
        ("terms", {"weights": 31337}, {"weights": 271828}),
        ("terms", {"leak_31337": 1}, {"weights": 271828}),
        ("terms", {"weights": "31337"}, {"weights": 271828}),
        ("terms", "31337", {"weights": 271828}),
        ("number", 31337, 271828),
        ("number", "31337", 271828),
        ("equal", "31337", "271828"),
        ("equal", ["31337"], ["271828"]),
        ("equal", "31337", True),
    ],
)
def test_a_hidden_check_prints_neither_got_nor_expected(method, got, expected):
    message = complaint(method, got, expected, hidden=True)
    assert "31337" not in message
    assert "271828" not in message
    assert "31,337" not in message
    assert "271,828" not in message


def test_a_property_fails_with_its_own_words_and_symptom():
    Expect().that(True, "never said")
    with pytest.raises(CheckFailed) as caught:
        Expect().that(False, "saved too much", symptom="saves_too_much")
    assert (caught.value.message, caught.value.symptom) == ("saved too much", "saves_too_much")


@pytest.mark.parametrize("returned", ["np.int64(7)", "np.float32(7)", "np.array(7)[()]", "7", "7.0"])
def test_a_numpy_scalar_is_as_good_as_a_number(tmp_path, returned):
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "state.py").write_text(
        f"import numpy as np\n\ndef f():\n    return {returned}\n\ndef yes():\n    return np.bool_(True)\n"
    )
    runner = LocalRunner(tmp_path)
    try:
        Expect().number(runner.run(Request("memory", "state.py", "f")), 7)
        Expect().equal(runner.run(Request("memory", "state.py", "yes")), True)
    finally:
        runner.close()


def test_the_smallest_and_the_largest_floats_compare():
    assert complaint("number", math.ulp(0.0), 1.7e308)
    assert complaint("number", 1.7e308, math.ulp(0.0))


def test_a_measured_number_is_attached_but_for_hidden_checks() -> None:
    expect, hidden = Expect(), Expect(hidden=True)
    for each in (expect, hidden):
        each.measured("kept for backward", 4096, "B")
    (evidence,) = expect.evidence
    assert (evidence.value, evidence.unit, evidence.measured_in_worker) == (4096, "B", True)
    assert hidden.evidence == []
