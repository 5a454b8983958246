"""`grader kernel` guesses inputs from a function's parameters, and says what it cannot guess."""

import pytest

from grader.kernel_report.families import TensorOf
from grader.kernel_report.signatures import CannotGuess, Given, candidates, parse_argument, parse_shape


def attention(q, k, v, causal=False):
    """Never called, as those below."""


def grouped_query(Q, K, V, is_causal):
    """Upper case, and a flag that must be given."""


def flash_backward(q, k, v, o, do, lse, sm_scale):
    """Tensors that follow from the first."""


def rms_norm(x, weight, eps=1e-5):
    """A norm."""


def layer_norm(x, weight, bias=None, *, eps):
    """A norm with an optional bias and a keyword-only number."""


def linear(x, weight, bias=None):
    """Named like a norm's, but a matmul."""


def matmul(a, b):
    """The same names as add's."""


def add(a, b):
    """Two of one shape."""


def softmax(x):
    """Rows."""


def embedding(ids, table):
    """Indices first."""


def gemv(a, x):
    """A matrix and a vector."""


def decode(q, k, v, lengths):
    """Attention, and something else."""


def flash_decoding(q, k, v, splits=8):
    """One query, many keys."""


def anything(data):
    """A lone tensor."""


def odd(data, lookup, n_groups: int, fast: bool):
    """Nothing that is common."""


def star(*tensors, **options):
    """Any number."""


def _first(function, *shapes: str, **others: object):
    inputs = candidates(function, [parse_shape(text) for text in shapes], others)[0]
    return {name: tensor.shape for name, tensor in inputs.tensors.items()}


def test_decoding_is_tried_with_one_query():
    """A function that takes one query would leave the others' outputs unwritten, which is no fault of its own."""
    tried = candidates(flash_decoding, [], {})
    shapes = [[tensor.shape for tensor in inputs.tensors.values()] for inputs in tried]
    assert shapes[:2] == [
        [(2, 1, 64), (2, 256, 64), (2, 256, 64)],
        [(1, 2, 1, 64), (1, 2, 256, 64), (1, 2, 256, 64)],
    ]
    assert "attention of one query" in tried[0].assumed
    assert not any("one query" in inputs.assumed for inputs in candidates(attention, [], {}))


@pytest.mark.parametrize("function", [attention, grouped_query])
def test_attention_is_tried_with_and_without_a_batch(function):
    """(H, T, D) first, then (B, H, T, D)."""
    tried = candidates(function, [], {})
    assert [len(next(iter(inputs.tensors.values())).shape) for inputs in tried][:2] == [3, 4]
    assert all(len(inputs.tensors) == 3 for inputs in tried[:2])
    assert "attention" in tried[0].assumed


def test_a_flag_that_must_be_given_is_guessed_and_said():
    """is_causal=True; a default stays what it is."""
    (first, *_) = candidates(grouped_query, [], {})
    assert first.others == {"is_causal": True}
    assert "is_causal=True" in first.assumed
    assert candidates(attention, [], {})[0].others == {}


def test_tensors_of_a_backward_follow_from_q():
    """o and do like q, lse (H, T) in fp32, the scale 1/sqrt(D)."""
    (first, *_) = candidates(flash_backward, [], {})
    H, T, D = first.tensors["q"].shape
    assert first.tensors["do"] == first.tensors["o"] == TensorOf((H, T, D))
    assert first.tensors["lse"] == TensorOf((H, T), "fp32")
    assert first.others["sm_scale"] == pytest.approx(D**-0.5, rel=1e-3)
    assert "o, do, lse to match" in first.assumed


def test_guesses_come_with_sizes_that_no_tile_divides():
    """Those that are equal stay equal, the width of heads stays; named sizes are the user's choice."""
    (first, *_) = candidates(attention, [], {})
    T, D = first.tensors["q"].shape[1:]
    assert first.ragged["q"] == first.ragged["k"]
    assert first.ragged["q"].shape[1] % 2 == 1
    assert first.ragged["q"].shape[1] < T
    assert first.ragged["q"].shape[2] == D
    assert candidates(attention, [parse_shape("2,64,32")], {})[0].ragged == {}


def test_a_norm_gets_a_weight_as_wide_as_its_rows():
    """x (M, N), weight (N,), and a bias where there is one; eps if it must be given."""
    shapes = _first(rms_norm)
    assert shapes["weight"] == shapes["x"][-1:]
    shapes = _first(layer_norm)
    assert shapes["weight"] == shapes["bias"] == shapes["x"][-1:]
    assert candidates(layer_norm, [], {})[0].others == {"eps": 1e-5}


def test_the_functions_name_tells_which_of_two_families_comes_first():
    """matmul(a, b) and add(a, b); linear(x, weight, bias) and a norm."""
    assert _first(matmul)["a"][1] == _first(matmul)["b"][0] != _first(matmul)["b"][1]
    assert _first(add)["a"] == _first(add)["b"]
    assert len(_first(linear)["weight"]) == 2
    assert any(len(each.tensors["weight"].shape) == 1 for each in candidates(linear, [], {}))


def test_a_family_that_leaves_a_parameter_open_gives_way_to_one_that_does_not():
    """a alone would be rows; of q, k, v, lengths only the last is asked for."""
    assert _first(gemv)["x"] == _first(gemv)["a"][1:]
    with pytest.raises(CannotGuess, match="cannot guess lengths of decode"):
        candidates(decode, [], {})


def test_indices_are_integers():
    """ids int64, and the table in the dtype that the run is about."""
    tensors = candidates(embedding, [], {})[0].tensors
    assert tensors["ids"].dtype == "int64"
    assert tensors["table"].dtype == ""


@pytest.mark.parametrize("function", [softmax, anything])
def test_rows_are_assumed_for_a_lone_tensor(function):
    """(M, N), whatever its name."""
    assert len(next(iter(_first(function).values()))) == 2


def test_one_shape_goes_to_all_of_attention():
    """`--shape 4,128,64` is the shape of q, k and v."""
    assert _first(attention, "4,128,64") == {"q": (4, 128, 64), "k": (4, 128, 64), "v": (4, 128, 64)}


def test_one_shape_of_a_norm_gives_the_weight_its_width():
    """`--shape 32,100` for x; the weight has 100. The same with the name."""
    assert _first(rms_norm, "32,100") == {"x": (32, 100), "weight": (100,)}
    assert _first(rms_norm, "x=32,100") == {"x": (32, 100), "weight": (100,)}


def test_shapes_by_name_and_values_by_name_leave_nothing_to_guess():
    """Any function can be called once all is named; a required bool is False."""
    given = [parse_shape("data=8"), parse_shape("lookup=4,4:int32")]
    (inputs,) = candidates(odd, given, {"n_groups": 2, "fast": True})
    assert inputs.tensors == {"data": TensorOf((8,)), "lookup": TensorOf((4, 4), "int32")}
    assert inputs.others == {"n_groups": 2, "fast": True}
    assert inputs.assumed == ""
    (inputs,) = candidates(odd, given, {"n_groups": 2})
    assert inputs.others["fast"] is False
    assert inputs.assumed == "fast=False"


def test_shapes_without_names_go_into_star_arguments():
    """f(*tensors, **options)."""
    (inputs,) = candidates(star, [parse_shape("4"), parse_shape("5")], {"block": 2})
    assert inputs.tensors == {"args[0]": TensorOf((4,)), "args[1]": TensorOf((5,))}
    assert inputs.others == {"block": 2}


def test_an_uncommon_signature_is_refused_with_the_options_to_use():
    """The message names those that are open, and both options; what has a usual value is not among them."""
    with pytest.raises(CannotGuess, match=r"data, lookup, n_groups of odd.*--shape data=.*--arg n_groups=1"):
        candidates(odd, [], {})
    with pytest.raises(CannotGuess, match=r"cannot guess lookup, n_groups of odd"):
        candidates(odd, [parse_shape("data=4")], {})


def test_a_name_that_the_function_does_not_have_is_refused_with_those_it_has():
    """A typo in --shape or --arg."""
    with pytest.raises(CannotGuess, match="no parameter qq: it has q, k, v"):
        candidates(attention, [parse_shape("qq=1,2")], {})
    with pytest.raises(CannotGuess, match="no parameter casual"):
        candidates(attention, [], {"casual": True})


def test_more_shapes_than_parameters_are_refused():
    """Two shapes for one x."""
    with pytest.raises(CannotGuess, match="2 shapes for 1"):
        candidates(softmax, [parse_shape("4,4"), parse_shape("4")], {})


@pytest.mark.parametrize("text", ["", "q=", "a,b", "0,4", "-1", "1.5", "two words=3", "=3"])
def test_a_shape_that_is_none_shows_the_form(text):
    """Sizes are whole and positive."""
    with pytest.raises(ValueError, match="give sizes such as"):
        parse_shape(text)


def test_shapes_may_be_written_with_x_and_brackets_and_a_dtype():
    """As people write them."""
    assert parse_shape("2x3") == parse_shape("(2, 3)") == Given("", TensorOf((2, 3)))
    assert parse_shape("ids=64:int64") == Given("ids", TensorOf((64,), "int64"))
    with pytest.raises(ValueError, match="no dtype int7"):
        parse_shape("ids=64:int7")


def test_an_argument_is_a_literal_or_else_a_text():
    """causal=True is a bool; mode=fast a text."""
    assert parse_argument("causal=True") == ("causal", True)
    assert parse_argument("mode=fast") == ("mode", "fast")
    with pytest.raises(ValueError, match="give a name and a value"):
        parse_argument("causal")
