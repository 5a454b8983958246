"""The wire: honest values arrive as they left, and no bytes get more out of it than a typed error."""

import enum
import json
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
from collections import Counter, OrderedDict, defaultdict, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import specs
from grader.worker import wire
from grader.worker.values import FIELDS, TENSOR_DTYPES

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    left, right = socket.socketpair()
    with left, right:
        yield left, right


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


def frame(header: bytes, body: bytes = b"", *, header_bytes: int | None = None) -> bytes:
    size = len(header) if header_bytes is None else header_bytes
    return struct.pack("!4sIQ", wire.MAGIC, size, len(body)) + header + body


def receive(data: bytes) -> tuple[object, list[bytearray]]:
    """What the judge makes of `data` followed by the end of the stream."""
    left, right = socket.socketpair()
    with left, right:

        def feed() -> None:
            try:
                left.sendall(data)
                left.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # refused before it was read

        feeder = threading.Thread(target=feed)
        feeder.start()
        try:
            return wire.receive_frame(right, time.monotonic() + 10)
        finally:
            right.close()
            feeder.join()


# ---- values

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
keys = st.recursive(scalars, lambda inner: st.tuples(inner, inner), max_leaves=3)
plain_values = st.recursive(
    scalars | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(keys, inner),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None)
@given(plain_values)
def test_plain_values_arrive_with_their_exact_types(value: object) -> None:
    assert repr(across(value)) == repr(value)  # repr tells -0.0 from 0.0, 1 from True, and holds for NaN


@settings(max_examples=100, deadline=None)
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


@pytest.mark.parametrize(
    "node",
    [
        {"$": "spec", "type": "Nothing", "data": {"$": "dict", "pairs": []}},
        {"$": "spec", "type": "__class__", "data": {"$": "dict", "pairs": []}},
        {"$": "spec", "type": ["Model"], "data": {"$": "dict", "pairs": []}},
        {"$": "spec", "type": "ModelShape", "data": {"$": "dict", "pairs": []}},
        {"$": "spec", "type": "ModelShape", "data": [1, 2]},
        {"$": "spec", "type": "ModelShape", "data": {"$": "dict", "pairs": [["layers", 1], ["hidden", "2"]]}},
        {"$": "spec", "type": "ModelShape", "data": {"$": "dict", "pairs": [[1, 1], [None, 2]]}},
    ],
)
def test_a_forged_type_of_specs_is_tampering(node: object) -> None:
    with pytest.raises(wire.WireTampered):
        wire.decode(node, [])


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


def tensor_node(**changes: object) -> dict[str, object]:
    node: dict[str, object] = {
        "$": "tensor",
        "dtype": "float32",
        "size": [2, 2],
        "stride": [2, 1],
        "offset": 0,
        "storage": 0,
        "requires_grad": False,
    }
    return node | changes


def array_node(**changes: object) -> dict[str, object]:
    return {"$": "array", "dtype": "float32", "shape": [2, 2], "storage": 0} | changes


@pytest.mark.parametrize(
    "node",
    [
        tensor_node(size=[2, 3]),
        tensor_node(stride=[3, 1]),
        tensor_node(offset=1),
        tensor_node(offset=-1),
        tensor_node(stride=[-2, 1]),
        tensor_node(stride=[2**62, 1]),
        tensor_node(size=[2**62, 4], stride=[0, 0]),
        tensor_node(size=[2**20, 2**20], stride=[0, 0]),
        tensor_node(size=[True, 2]),
        tensor_node(size=[2.0, 2]),
        tensor_node(size=[2]),
        tensor_node(size=[1] * 17, stride=[0] * 17),
        tensor_node(size="22"),
        tensor_node(storage=1),
        tensor_node(storage=-1),
        tensor_node(storage=False),
        tensor_node(dtype="float33"),
        tensor_node(dtype="complex64"),
        tensor_node(dtype="load"),
        tensor_node(dtype=None),
        tensor_node(dtype="int32", requires_grad=True),
        tensor_node(requires_grad=1),
        tensor_node(extra=1),
        {"$": "tensor"},
        array_node(shape=[2, 3]),
        array_node(shape=[1, 2]),
        array_node(shape=[-2, -2]),
        array_node(shape=[2**40, 2**40]),
        array_node(shape=[2**30, 2**30, 0]),
        array_node(dtype="object"),
        array_node(dtype="O"),
        array_node(dtype="bfloat16"),
        [tensor_node(size=[2**29, 1], stride=[0, 0])] * 3,
    ],
    ids=lambda node: json.dumps(node)[:60],
)
def test_a_tensor_that_its_storage_cannot_hold_is_tampering(node: object) -> None:
    with pytest.raises(wire.WireTampered):
        wire.decode(node, [bytearray(16)])


@pytest.mark.parametrize("kind", ["tensor", "array"])
def test_a_bool_of_another_byte_than_0_and_1_is_tampering(kind: str) -> None:
    make = tensor_node if kind == "tensor" else array_node
    assert wire.decode(make(dtype="bool"), [b"\0\1\0\1"]) is not None
    with pytest.raises(wire.WireTampered, match="neither true nor false"):
        wire.decode(make(dtype="bool"), [b"\0\1\2\1"])


# ---- hostile values

edge_numbers = st.sampled_from([0, 1, -1, 2, 16, 2**31, 2**40, 2**63, 2**64, -(2**63), 10**30, 0.5, 1e308])
names = st.sampled_from([*sorted(TENSOR_DTYPES), "object", "nan", "Model", "ModelShape", "layers"])
kinds = st.sampled_from([*sorted(FIELDS), "list", "pickle", ""])
field_names = st.sampled_from(sorted(set().union(*FIELDS.values())))


def hostile_nodes(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    well_formed = kinds.flatmap(
        lambda kind: st.fixed_dictionaries(
            {"$": st.just(kind)} | dict.fromkeys(sorted(FIELDS.get(kind, ())), inner)
        )
    )
    return st.lists(inner, max_size=4) | well_formed | st.dictionaries(field_names | st.just("$"), inner)


hostile_trees = st.recursive(
    st.none() | st.booleans() | edge_numbers | names | kinds | st.text(max_size=3) | st.floats(),
    hostile_nodes,
    max_leaves=25,
)


@settings(max_examples=250, deadline=None)
@given(hostile_trees, st.lists(st.binary(max_size=40), max_size=2))
def test_no_tree_gets_more_out_of_decode_than_a_value_or_tampered(
    tree: object, storages: list[bytes]
) -> None:
    try:
        value = wire.decode(tree, storages)
    except wire.WireTampered:
        return
    wire.canonical(value)


dims = st.lists(st.integers(-1, 5) | edge_numbers, max_size=4)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(TORCH_DTYPES), dims, dims, st.integers(-1, 9) | edge_numbers, st.binary(max_size=64))
def test_every_element_of_a_decoded_tensor_lies_in_its_storage(
    dtype: torch.dtype, size: list[object], stride: list[object], offset: object, storage: bytes
) -> None:
    name = str(dtype).removeprefix("torch.")
    try:
        tensor = wire.decode(tensor_node(dtype=name, size=size, stride=stride, offset=offset), [storage])
    except wire.WireTampered:
        return
    assert isinstance(tensor, torch.Tensor)
    assert tensor.untyped_storage().nbytes() == len(storage)  # torch would have grown it
    if tensor.numel():
        last = sum((n - 1) * step for n, step in zip(tensor.size(), tensor.stride(), strict=True))
        assert (tensor.storage_offset() + last + 1) * tensor.element_size() <= len(storage)


@pytest.mark.parametrize(
    "tree",
    [
        float("nan"),
        {"$": "float", "value": "1e400"},
        {"$": "float", "value": 1.0},
        {"$": "tuple", "items": {}},
        {"$": "dict", "pairs": [["a", 1], ["a", 2]]},
        {"$": "dict", "pairs": [[1, 1], [True, 2]]},
        {"$": "dict", "pairs": [[[], 1]]},
        {"$": "dict", "pairs": [[{"$": "tuple", "items": [[]]}, 1]]},
        {"$": "dict", "pairs": [["a"]]},
        {"$": "dict", "pairs": [[n * (2**61 - 1), 0] for n in range(5_000)]},  # every hash is 0
        {"a": 1},
        {"$": "pickle", "data": "x"},
        {"$": "node", "tree": 1},
        {"$": ["dict"]},
        1 << 20_000,
        "\udc00",
        object(),
    ],
    ids=lambda tree: repr(tree)[:50] if not isinstance(tree, int) else "int",
)
def test_what_encode_never_makes_is_tampering(tree: object) -> None:
    with pytest.raises(wire.WireTampered):
        wire.decode(tree, [])


def test_depth_and_number_of_nodes_are_capped() -> None:
    deep: object = 0
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(wire.WireTampered, match="too many parts or levels"):
        wire.decode(deep, [])
    with pytest.raises(wire.WireTampered, match="too many parts or levels"):
        wire.decode([[0] * 1001] * 1000, [])
    while isinstance(deep, list):  # taken apart by hand: freeing it in one go recurses
        deep = deep.pop()


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


# ---- frames


def test_frames_follow_each_other_and_the_end_is_closed_not_tampered(pair: Pair) -> None:
    left, right = pair
    wire.send_frame(left, {"n": 1}, [b"", b"ab", memoryview(b"cde")])
    wire.send_frame(left, {"n": 2})
    left.close()
    assert wire.receive_frame(right) == ({"n": 1}, [b"", b"ab", b"cde"])
    assert wire.receive_frame(right) == ({"n": 2}, [])
    with pytest.raises(wire.WireClosed):
        wire.receive_frame(right)


def test_sending_to_the_dead_is_closed(pair: Pair) -> None:
    left, right = pair
    right.close()
    with pytest.raises(wire.WireClosed):
        wire.send_frame(left, {})


def test_a_frame_that_trickles_in_arrives(pair: Pair) -> None:
    left, right = pair
    data = frame(b'{"header":{"a":"\xc3\xa9"},"storages":[3]}', b"xyz")

    def trickle() -> None:
        for byte in data:
            left.sendall(bytes([byte]))

    thread = threading.Thread(target=trickle)
    thread.start()
    assert wire.receive_frame(right, time.monotonic() + 10) == ({"a": "é"}, [b"xyz"])
    thread.join()


@pytest.mark.parametrize("cut", [0, 3, 15, 16, 20, -1])
def test_the_deadline_holds_wherever_the_frame_stalls(pair: Pair, cut: int) -> None:
    left, right = pair
    left.sendall(frame(b'{"header":{},"storages":[3]}', b"xyz")[:cut])
    with pytest.raises(wire.WireTimeout):
        wire.receive_frame(right, time.monotonic() + 0.03)


def test_the_deadline_holds_while_bytes_keep_coming(pair: Pair) -> None:
    left, right = pair
    done = threading.Event()

    def trickle() -> None:
        left.sendall(struct.pack("!4sIQ", wire.MAGIC, 1000, 0))
        while not done.wait(0.005):
            left.sendall(b" ")

    thread = threading.Thread(target=trickle)
    thread.start()
    with pytest.raises(wire.WireTimeout):
        wire.receive_frame(right, time.monotonic() + 0.1)
    done.set()
    thread.join()


def test_a_deadline_in_the_past_does_not_wait(pair: Pair) -> None:
    with pytest.raises(wire.WireTimeout):
        wire.receive_frame(pair[1], time.monotonic() - 1)


def test_a_reader_that_does_not_read_cannot_hold_the_sender(pair: Pair) -> None:
    with pytest.raises(wire.WireTimeout):
        wire.send_frame(pair[0], {}, [bytes(4 << 20)], deadline=time.monotonic() + 0.05)


GOOD = b'{"header":{},"storages":[]}'


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"\x80\x04\x95" + bytes(40),  # a pickle
        struct.pack("!4sIQ", wire.MAGIC, 2, 2**63),
        struct.pack("!4sIQ", wire.MAGIC, 2**32 - 1, 0),
        frame(b""),
        frame(b"null"),
        frame(b"[]"),
        frame(b"{}"),
        frame(b'{"header":{}}'),
        frame(b'{"header":[],"storages":[]}'),
        frame(b'{"header":{},"storages":{}}'),
        frame(b'{"header":{},"storages":[],"more":1}'),
        frame(b'{"header":{},"header":{},"storages":[]}'),
        frame(b'{"header":{"a":1,"a":2},"storages":[]}'),
        frame(b'{"header":{},"storages":[1]}'),
        frame(GOOD, b"x"),
        frame(b'{"header":{},"storages":[-1,2]}', b"x"),
        frame(b'{"header":{},"storages":[true]}', b"x"),
        frame(b'{"header":{},"storages":[1.0]}', b"x"),
        frame(b'{"header":{"a":NaN},"storages":[]}'),
        frame(b'{"header":{"a":-Infinity},"storages":[]}'),
        frame(b'{"header":{"a":"\xff"},"storages":[]}'),
        frame(b'{"header":{"a":"\xed\xa0\x80"},"storages":[]}'),
        frame(b'{"header":{"a":"\\ud800"},"storages":[]}'),
        frame(b'{"header":{"a":"\\\\\\uDC00"},"storages":[]}'),
        frame(b'{"header":{"a":' + b"9" * 5000 + b'},"storages":[]}'),
        frame(b'{"header":{"a":0.' + b"9" * 5000 + b'},"storages":[]}'),
        frame(b'{"header":{"a":' + b"[" * 300 + b"]" * 300 + b'},"storages":[]}'),
        frame(b'{"header":{"a":' + b"[" * 1_000_000 + b'},"storages":[]}'),
        frame(b'{"header":{"a":' + b'{"a":' * 100_000 + b'},"storages":[]}'),
        frame(b'{"header":{},"storages":[' + b"0," * 20_000 + b"0]}"),
        frame(GOOD + b" trailing"),
        frame(b"\xef\xbb\xbf" + GOOD),
    ],
    ids=lambda data: repr(data[16:50]),
)
def test_what_is_no_frame_is_tampering(data: bytes) -> None:
    with pytest.raises(wire.WireTampered):
        receive(data)


@pytest.mark.parametrize("cut", [1, 4, 15, 16, 30, -1])
def test_a_frame_cut_short_is_truncated(cut: int) -> None:
    whole = frame(b'{"header":{},"storages":[2]}', b"ab")
    with pytest.raises(wire.WireTruncated):
        receive(whole[:cut])


def test_brackets_and_digits_inside_strings_are_only_text() -> None:
    text = '\\"[[[{{{' * 200 + "7" * 5000 + '\\ud800 \\\\ " é \n'
    assert across({"text": [text, text]}) == {"text": [text, text]}


def test_memory_grows_with_what_arrives_and_not_with_what_is_claimed(pair: Pair) -> None:
    left, right = pair
    size = wire.CAPS.body_bytes
    header = json.dumps({"header": {}, "storages": [size]}).encode()
    left.sendall(struct.pack("!4sIQ", wire.MAGIC, len(header), size) + header + b"only this")
    left.close()
    tracemalloc.start()
    try:
        with pytest.raises(wire.WireTruncated):
            wire.receive_frame(right)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < 4 << 20


def test_a_frame_above_the_caps_is_refused_before_a_byte_is_sent(pair: Pair) -> None:
    left, right = pair
    caps = wire.Caps(header_bytes=100, body_bytes=10, storages=1)
    for header, storages, says in (
        ({"a": "x" * 200}, [], "bytes of text and numbers, the limit is 100"),
        ({}, [b"x" * 11], "too large to be sent: 11 bytes of tensors and byte strings, the limit is 10"),
        ({}, [b"", b""], "too large to be sent: 2 tensors and byte strings, the limit is 1"),
    ):
        with pytest.raises(wire.Unsendable, match=says):
            wire.send_frame(left, header, storages, caps=caps)
    with pytest.raises(wire.Unsendable, match="not plain JSON"):
        wire.send_frame(left, {"a": {1, 2}})  # type: ignore[dict-item]
    with pytest.raises(wire.WireTimeout):
        wire.receive_frame(right, time.monotonic() + 0.02)


def test_the_receiver_keeps_its_own_caps() -> None:
    left, right = socket.socketpair()
    with left, right:
        wire.send_frame(left, {}, [bytes(2000)])
        with pytest.raises(wire.WireTampered, match="above the limit"):
            wire.receive_frame(right, None, wire.Caps(body_bytes=1000))


VALID = [
    frame(
        json.dumps({"header": {"id": 3, "value": tree}, "storages": [len(part) for part in parts]}).encode(),
        b"".join(parts),
    )
    for tree, parts in (
        wire.encode(value)
        for value in (
            {"a": [1, 2.5, float("inf")], (1, 2): b"bytes"},
            [torch.arange(4.0).reshape(2, 2).t(), torch.ones(2, dtype=torch.bfloat16), np.arange(3)],
            specs.ModelShape(layers=2, hidden=3),
        )
    )
]


@settings(max_examples=250, deadline=None)
@given(
    st.sampled_from(VALID),
    st.lists(
        st.tuples(st.integers(0, 2000), st.integers(0, 6), st.binary(min_size=0, max_size=6)), max_size=4
    ),
)
def test_a_mutated_frame_is_a_value_or_a_wire_error(data: bytes, edits: list[tuple[int, int, bytes]]) -> None:
    for place, removed, added in edits:
        at = place % (len(data) + 1)
        data = data[:at] + added + data[at + removed :]
    try:
        header, storages = receive(data)
        assert isinstance(header, dict)
        value = wire.decode(header.get("value"), storages)
    except wire.WireError:
        return
    wire.canonical(value)


def test_the_staged_copy_imports_alone_and_lightly(tmp_path: Path) -> None:
    """As the sandbox has it: a folder `worker` on the path, nothing else of grader, no torch."""
    shutil.copytree(Path(wire.__file__).parent, tmp_path / "worker")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from worker import wire, load\n"
        "print(wire.decode(*wire.encode({'a': (1, b'b')})))\n"
        "print(sorted({'numpy', 'torch', 'pydantic', 'specs', 'grader'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["{'a': (1, b'b')}", "[]"]
