"""Hostile values: whatever tree and storages come, `decode` gives a sound value or raises `WireTampered`."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.worker import wire
from grader.worker.values import FIELDS, TENSOR_DTYPES
from tests.drawn import DRAWN

TORCH_DTYPES = [getattr(torch, name) for name in sorted(TENSOR_DTYPES)]


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
        {"$": "spec", "type": "ModelShape", "data": {"$": "dict", "pairs": [["layers", 1], ["self", 2]]}},
        {"$": "spec", "type": "ModelShape", "data": {"$": "tuple", "items": [1, 2]}},
        {
            "$": "spec",
            "type": "FusedCost",
            "data": {"$": "dict", "pairs": [["before", [1, 2, 3]], ["after", 1]]},
        },
    ],
)
def test_a_forged_type_of_specs_is_tampering(node: object) -> None:
    with pytest.raises(wire.WireTampered):
        wire.decode(node, [])


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


@settings(DRAWN, max_examples=250)
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


@settings(DRAWN, max_examples=300)
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
        {"$": "dict", "pairs": [[{"$": "bytes", "storage": 0}, 1]]},
        {"$": "dict", "pairs": [[{"$": "dtype", "name": "bool"}, 1]]},
        {"$": "dict", "pairs": [[n * (2**61 - 1), 0] for n in range(5_000)]},  # every hash is 0
        [{"$": "bytes", "storage": 0}, {"$": "bytes", "storage": 0}],
        [{"$": "array", "dtype": "uint8", "shape": [2], "storage": 0}, {"$": "bytes", "storage": 0}],
        {"a": 1},
        {"$": "pickle", "data": "x"},
        {"$": "node", "tree": 1},
        {"$": ["dict"]},
        1 << 20_000,
        "\udc00",
        pytest.param(object(), id="an object"),
    ],
    ids=lambda tree: repr(tree)[:50] if not isinstance(tree, int) else "int",
)
def test_what_encode_never_makes_is_tampering(tree: object) -> None:
    with pytest.raises(wire.WireTampered):
        wire.decode(tree, [b"ab"])


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
