"""`grader kernel` guesses inputs from a function's parameters, and says what it cannot guess."""

import inspect

import pytest

from grader.kernel_report.signatures import CannotGuess, candidates, parse_argument, parse_shape


def _function(*names: str, **defaults: object):
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
        for name, value in defaults.items()
    ]

    def function(*args: object) -> None:
        """Never called."""

    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__name__ = "student"
    return function


def _first_shapes(function, *shapes: str, **others: object):
    return dict(candidates(function, [parse_shape(text) for text in shapes], others)[0].shapes)


@pytest.mark.parametrize("names", [("q", "k", "v"), ("query", "key", "value"), ("Q", "K", "V")])
def test_attention_is_tried_with_and_without_a_batch(names):
    """(H, T, D) first, then (B, H, T, D)."""
    tried = candidates(_function(*names, causal=False), [], {})
    assert [len(next(iter(inputs.shapes.values()))) for inputs in tried][:2] == [3, 4]
    assert all(set(inputs.shapes) == set(names) for inputs in tried)
    assert "attention" in tried[0].assumed


def test_a_norm_gets_a_weight_as_wide_as_its_rows():
    """x (M, N), weight (N,), bias (N,)."""
    shapes = _first_shapes(_function("x", "weight", "bias", eps=1e-5))
    assert shapes["weight"] == shapes["bias"] == shapes["x"][-1:]


def test_a_matmul_gets_an_inner_dimension_in_common():
    """a (M, K), b (K, N)."""
    shapes = _first_shapes(_function("a", "b"))
    assert shapes["a"][1] == shapes["b"][0]


def test_rows_are_assumed_for_a_lone_x():
    """x (M, N)."""
    assert len(_first_shapes(_function("x"))["x"]) == 2


def test_one_shape_goes_to_all_of_attention():
    """`--shape 4,128,64` is the shape of q, k and v."""
    assert _first_shapes(_function("q", "k", "v"), "4,128,64") == {
        "q": (4, 128, 64),
        "k": (4, 128, 64),
        "v": (4, 128, 64),
    }


def test_one_shape_of_a_norm_gives_the_weight_its_width():
    """`--shape 32,100` for x; the weight has 100."""
    assert _first_shapes(_function("x", "weight"), "32,100") == {"x": (32, 100), "weight": (100,)}


def test_shapes_by_name_and_values_by_name_leave_nothing_to_guess():
    """Any function can be called once all is named."""
    (inputs,) = candidates(
        _function("data", "table", "top"), [parse_shape("data=8"), parse_shape("table=4,4")], {"top": 2}
    )
    assert dict(inputs.shapes) == {"data": (8,), "table": (4, 4)}
    assert dict(inputs.others) == {"top": 2}
    assert inputs.assumed == ""


def test_an_uncommon_signature_is_refused_with_the_options_to_use():
    """The message names the parameters and both options."""
    with pytest.raises(CannotGuess, match=r"data, table.*--shape data=.*--arg"):
        candidates(_function("data", "table"), [], {})


def test_a_name_that_the_function_does_not_have_is_refused_with_those_it_has():
    """A typo in --shape or --arg."""
    with pytest.raises(CannotGuess, match="no parameter qq: it has q, k, v"):
        candidates(_function("q", "k", "v"), [parse_shape("qq=1,2")], {})
    with pytest.raises(CannotGuess, match="no parameter casual"):
        candidates(_function("q", "k", "v", causal=False), [], {"casual": True})


def test_more_shapes_than_parameters_are_refused():
    """Two shapes for one x."""
    with pytest.raises(CannotGuess, match="2 shapes for 1"):
        candidates(_function("x"), [parse_shape("4,4"), parse_shape("4")], {})


@pytest.mark.parametrize("text", ["", "q=", "a,b", "0,4", "-1", "1.5", "two words=3", "=3"])
def test_a_shape_that_is_none_shows_the_form(text):
    """Sizes are whole and positive."""
    with pytest.raises(ValueError, match="give sizes such as"):
        parse_shape(text)


def test_shapes_may_be_written_with_x_and_brackets():
    """As people write them."""
    assert parse_shape("2x3") == parse_shape("(2, 3)") == ("", (2, 3))


def test_an_argument_is_a_literal_or_else_a_text():
    """causal=True is a bool; mode=fast a text."""
    assert parse_argument("causal=True") == ("causal", True)
    assert parse_argument("mode=fast") == ("mode", "fast")
    with pytest.raises(ValueError, match="give a name and a value"):
        parse_argument("causal")
