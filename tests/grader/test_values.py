"""Values across the wire: they arrive as they left, plain, and what may not cross is named."""

import enum
import socket
import threading
import time
from collections import Counter, OrderedDict, defaultdict, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import specs
from grader.worker import wire
from grader.worker.values import TENSOR_DTYPES
from tests.drawn import DRAWN


def across(value: object) -> object:
    """`value` after a trip through a real socket."""
    left, right = socket.socketpair()
    with left, right:
        tree, storages = wire.encode(value)
        sender = threading.Thread(target=wire.send_frame, args=(left, {"value": tree}, storages))
        sender.start()
        header, arrived = wire.receive_frame(right, time.monotonic() + 10)
        sender.join()
    return wire.decode(header["value"], arrived)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
keys = st.recursive(scalars, lambda inner: st.tuples(inner, inner), max_leaves=3)
plain_values = st.recursive(
    scalars | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(keys, inner),
    max_leaves=20,
)


@DRAWN
@given(plain_values)
def test_plain_values_arrive_with_their_exact_types(value: object) -> None:
    assert repr(across(value)) == repr(value)  # repr tells -0.0 from 0.0, 1 from True, and holds for NaN


@DRAWN
@given(plain_values)
def test_a_value_and_its_copy_have_one_canonical_form(value: object) -> None:
    assert wire.canonical(across(value)) == wire.canonical(value)


class Truth(int):
    """What `eq_true` of the attacks returns."""

    def __eq__(self, other: object) -> bool:
        return True

    def __int__(self) -> int:
        return 42

    def __hash__(self) -> int:
        return 0


class LyingText(str):
    def __str__(self) -> str:
        return "lie"

    def encode(self, *_: object) -> bytes:  # type: ignore[override]
        return b"lie"


class LyingDict(dict):  # type: ignore[type-arg]
    def items(self) -> object:  # type: ignore[override]
        return [("lie", 1)]


class LyingList(list):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[object]:
        return iter(["lie"])


class Colour(enum.IntEnum):
    RED = 3


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Truth(7), 7),
        (LyingText("said"), "said"),
        (LyingDict(a=1), {"a": 1}),
        (LyingList([1, 2]), [1, 2]),
        (Colour.RED, 3),
        (Point(1, 2), (1, 2)),
        (torch.Size([2, 3]), (2, 3)),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(list, a=[1]), {"a": [1]}),
        (Counter("aab"), {"a": 2, "b": 1}),
        (np.float64(1.5), 1.5),
        (np.float32(0.5), 0.5),
        (np.int64(-3), -3),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.bool_(True), True),
        (np.str_("text"), "text"),
        ({np.int64(1): {Truth(2): 3}}, {1: {2: 3}}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_subclasses_and_numpy_scalars_arrive_as_the_plain_value_inside(value: object, plain: object) -> None:
    arrived = across(value)
    assert repr(arrived) == repr(plain)
    assert type(arrived) is type(plain)


@dataclass
class OwnResult:
    total: int


class ModelShape:
    """A student's own class with the name of one of specs."""


class OwnTensor(torch.Tensor):
    pass


class Awkward:
    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise RuntimeError


a_cycle: list[object] = []
a_cycle.append(a_cycle)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({1, 2}, "a set cannot be sent; return a number"),
        ([1, {"deep": 1j}], "a complex cannot be sent"),
        (object(), "an object cannot be sent"),
        ((n for n in ()), "a generator cannot be sent"),
        (len, "a builtin_function_or_method cannot be sent"),
        (OwnResult(3), "an OwnResult cannot be sent; return a number"),
        (ModelShape(), "a ModelShape of your own cannot be sent; use the ModelShape of specs itself"),
        ({frozenset(): 1}, "a dict with a frozenset as a key"),
        (a_cycle, "nested more than 64 deep"),
        (1 << 20_000, "more than 4000 digits"),
        ("\ud800", "half a character"),
        (np.array([object()]), "a numpy array of object"),
        (np.array([1j]), "a numpy array of complex128"),
        (np.longdouble(1), "a longdouble cannot be sent"),
        (np.ma.masked_array([1]), "a MaskedArray cannot be sent; return a plain numpy.ndarray"),
        (torch.ones(1).as_subclass(OwnTensor), "an OwnTensor cannot be sent; return a plain torch.Tensor"),
        (torch.ones(2, 2).to_sparse(), "a sparse or meta tensor"),
        (torch.empty(3, device="meta"), "a sparse or meta tensor"),
        (torch.ones(1, dtype=torch.complex64), "a tensor of complex64"),
        (torch.ones(1).expand(1 << 31), "is too large"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_does_not_cross_is_named_with_what_to_return_instead(value: object, says: str) -> None:
    with pytest.raises(wire.Unsendable) as refusal:
        wire.encode(value)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_an_object_that_raises_when_looked_at_is_unsendable() -> None:
    with pytest.raises(wire.Unsendable, match=r"cannot be read \(RuntimeError\)"):
        wire.encode([Awkward()])


def test_a_million_values_are_too_many() -> None:
    row = [0] * 2000
    with pytest.raises(wire.Unsendable, match="return an array or a tensor"):
        wire.encode([row] * 1000)


# ---- types of specs


def test_every_type_of_specs_arrives_as_itself() -> None:
    model = specs.model("gpt2")
    terms = specs.StateBytes(weights=2, gradients=np.float64(2), master=4.0, moments=8)
    arrived = across({"model": model, "terms": terms, "parts": [model.attention]})
    assert arrived == {"model": model, "terms": terms, "parts": [model.attention]}


def test_terms_that_were_broken_after_validation_are_the_senders_mistake() -> None:
    terms = specs.ModelShape(layers=2, hidden=256).model_copy(update={"layers": None})
    with pytest.raises(wire.Unsendable, match="ModelShape with a wrong field: layers"):
        wire.encode(terms)


def test_a_subclass_of_a_type_of_specs_is_refused() -> None:
    class StateBytes(specs.StateBytes):
        @property
        def total(self) -> int:
            return 16

    with pytest.raises(wire.Unsendable, match="StateBytes of your own"):
        wire.encode(StateBytes(weights=0, gradients=0, master=0, moments=0))


# ---- arrays and tensors


def test_views_of_one_storage_arrive_as_views_of_one_storage() -> None:
    base = torch.arange(24.0).reshape(4, 6)
    sent = {"base": base, "transposed": base.t(), "tail": base[2:, 1::2], "other": torch.ones(3)}
    arrived = across(sent)
    assert isinstance(arrived, dict)
    for name, tensor in sent.items():
        assert torch.equal(arrived[name], tensor)
        assert arrived[name].stride() == tensor.stride()
        assert arrived[name].storage_offset() == tensor.storage_offset()
    arrived["base"][3, 3] = -1
    assert arrived["transposed"][3, 3] == -1
    assert arrived["tail"][1, 1] == -1
    assert arrived["other"].untyped_storage().data_ptr() != arrived["base"].untyped_storage().data_ptr()


def test_a_copy_does_not_share_memory_with_what_was_sent() -> None:
    tensor, array = torch.zeros(3), np.zeros(3)
    tree, storages = wire.encode((tensor, array))
    copy = wire.decode(tree, storages)
    tensor += 1
    array += 1
    assert isinstance(copy, tuple)
    copy[0][0] = 5
    copy[1][0] = 5
    assert (tensor[0], array[0]) == (1, 1)
    assert wire.canonical(wire.decode(tree, storages)) == wire.canonical((torch.zeros(3), np.zeros(3)))


TORCH_DTYPES = [getattr(torch, name) for name in sorted(TENSOR_DTYPES)]


@pytest.mark.parametrize("dtype", TORCH_DTYPES, ids=str)
def test_every_tensor_dtype_arrives_bit_for_bit(dtype: torch.dtype) -> None:
    bits = torch.arange(64, dtype=torch.uint8)
    tensor = (bits % 2).bool() if dtype == torch.bool else bits.view(dtype)
    arrived = across(tensor)
    assert isinstance(arrived, torch.Tensor)
    assert arrived.dtype == dtype
    assert torch.equal(arrived.view(torch.uint8), tensor.view(torch.uint8))
    assert across(dtype) is dtype


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(3.5),
        torch.empty(0),
        torch.empty(2, 0, 3),
        torch.ones(1).expand(4, 5),
        torch.ones(4, 4)[1:1],
        torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last),
        torch.tensor([float("nan"), -0.0, float("inf")], dtype=torch.bfloat16),
    ],
    ids=["scalar", "empty", "empty-3d", "expanded", "empty-view", "channels-last", "bf16-specials"],
)
def test_unusual_tensors_keep_size_stride_and_bits(tensor: torch.Tensor) -> None:
    arrived = across(tensor)
    assert isinstance(arrived, torch.Tensor)
    assert (arrived.size(), arrived.stride()) == (tensor.size(), tensor.stride())
    assert torch.equal(arrived, tensor) or tensor.isnan().any()
    assert wire.canonical(arrived) == wire.canonical(tensor)


def test_requires_grad_crosses_and_the_graph_does_not() -> None:
    leaf = torch.ones(2, requires_grad=True)
    arrived = across([leaf, leaf * 2, leaf.detach(), torch.nn.Parameter(torch.ones(1))])
    assert isinstance(arrived, list)
    assert [t.requires_grad for t in arrived] == [True, True, False, True]
    assert all(t.is_leaf and type(t) is torch.Tensor for t in arrived)


def test_methods_hung_on_a_tensor_do_not_speak_for_it() -> None:
    tensor = torch.zeros(2)
    tensor.size = lambda: (9, 9)  # type: ignore[method-assign,assignment]
    tensor.detach = lambda: torch.ones(2)  # type: ignore[method-assign]
    assert torch.equal(across(tensor), torch.zeros(2))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3).T,
        np.arange(10.0)[::-2],
        np.array(3.0),
        np.empty((2, 0)),
        np.array([1, 2], dtype=">i4"),
        np.array([True, False]),
        np.array([1.5], dtype=np.float16),
    ],
    ids=["transposed", "reversed", "scalar", "empty", "big-endian", "bool", "half"],
)
def test_numpy_arrays_arrive_with_shape_and_values(array: np.ndarray) -> None:  # type: ignore[type-arg]
    arrived = across(array)
    assert isinstance(arrived, np.ndarray)
    assert arrived.dtype == array.dtype.newbyteorder("=")
    assert arrived.shape == array.shape
    assert np.array_equal(arrived, array)
    assert arrived.flags.writeable


# ---- canonical


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (16, 16.0),
        (16, np.float32(16)),
        (0, -0.0),
        (2**53 - 1, float(2**53 - 1)),
        (0.1 + 0.2, 0.3),
        (1 / 3, 0.333333333333),
        ((1, 2), [1, 2]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (specs.ModelShape(layers=1, hidden=2), specs.ModelShape(layers=1.0, hidden=np.int64(2))),
        (torch.ones(2, 3).t(), torch.ones(3, 2)),
        (torch.arange(4)[2:], torch.tensor([2, 3])),
        (np.arange(4)[::2], np.array([0, 2])),
        (float("nan"), -float("nan")),
    ],
    ids=str,
)
def test_one_canonical_form_for(one: object, other: object) -> None:
    assert wire.canonical(one) == wire.canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0, False),
        (0, None),
        (1, "1"),
        ("a", b"a"),
        (10**15, 10**15 + 1),
        (1.00000001, 1.00000002),
        ([1, [2]], [[1], 2]),
        (["ab"], ["a", "b"]),
        ([], {}),
        ({"a": 1}, [["a", 1]]),
        ({1: "a"}, {"1": "a"}),
        (float("inf"), float("nan")),
        (torch.ones(2), torch.ones(2, dtype=torch.float64)),
        (torch.ones(2, 3), torch.ones(3, 2)),
        (torch.ones(2), np.ones(2, dtype=np.float32)),
        (torch.bfloat16, "torch.bfloat16"),
        (specs.ModelShape(layers=1, hidden=2), {"layers": 1, "hidden": 2}),
    ],
    ids=str,
)
def test_two_canonical_forms_for(one: object, other: object) -> None:
    assert wire.canonical(one) != wire.canonical(other)


def test_the_canonical_form_is_stable_across_versions_of_the_kit() -> None:
    """Fingerprints of wrong answers are stored in bundles; a change here makes them all void."""
    assert wire.canonical({"a": [1, 2.5, None], 3: True}) == b"d36:n1:3c4:Trues1:al17:n1:1n3:2.5c4:None"
