"""Properties of the costs, of fusion and of launches: what must hold for every shape and every chain."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.checks.mistakes import load_solution
from specs import DTYPE_BYTES, Cost, Op, element_flops, recipe, recipes
from tests.drawn import DRAWN

SOLUTIONS = Path(__file__).parents[2] / "solutions"
costs = load_solution(SOLUTIONS, "roofline", "costs.py")
fusion = load_solution(SOLUTIONS, "roofline", "fusion.py")

many = settings(DRAWN, max_examples=50)

OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "dtype": st.sampled_from(list(DTYPE_BYTES)),
    "weight_dtype": st.sampled_from([None, *DTYPE_BYTES]),
    "output_dtype": st.sampled_from([None, *DTYPE_BYTES]),
    "cache_dtype": st.sampled_from([None, *DTYPE_BYTES]),
    "table": st.sampled_from([element_flops("one-per-operation"), element_flops("four-per-softmax")]),
    "kind": st.sampled_from(["layernorm", "rmsnorm"]),
    "algorithm": st.sampled_from(["naive", "flash"]),
    "causal": st.booleans(),
    "recipe": st.sampled_from([each for each in recipes().values() if each.adapters is None]),
    "inputs": st.integers(0, 5),
}
"""What is drawn for a parameter that is not simply a size."""

FUNCTIONS: tuple[Callable[..., Cost], ...] = (
    costs.matmul_cost,
    costs.elementwise_cost,
    costs.softmax_cost,
    costs.norm_cost,
    costs.embedding_cost,
    costs.optimizer_step_cost,
    costs.attention_cost,
    costs.decode_cost,
)


def sizes(function: Callable[..., Cost]) -> list[str]:
    """Names of the parameters that say how large something is."""
    return [name for name in inspect.signature(function).parameters if name not in OTHERS or name == "inputs"]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@many
@given(data=st.data())
def test_cost_is_monotone_in_every_size(function: Callable[..., Cost], data: st.DataObject) -> None:
    arguments = {
        name: data.draw(OTHERS.get(name, st.integers(1, 5000)), label=name)
        for name in inspect.signature(function).parameters
    }
    if "queries" in arguments:
        arguments["keys"] += arguments["queries"] + 100  # queries may grow and still have a key each
    small = function(**arguments)
    for name in sizes(function):
        grown = {**arguments, name: arguments[name] + data.draw(st.integers(1, 100), label=f"{name} more")}
        large = function(**grown)
        assert large.flops >= small.flops, name
        assert large.bytes_read >= small.bytes_read, name
        assert large.bytes_written >= small.bytes_written, name
        assert large != small, name


SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 50),
        "heads": st.integers(1, 50),
        "kv_heads": st.integers(1, 50),
        "queries": st.integers(1, 5000),
        "keys": st.integers(5000, 9000),
        "head_dim": st.integers(1, 256),
        "dtype": OTHERS["dtype"],
        "table": OTHERS["table"],
    }
)


@many
@given(shape=SHAPES, causal=st.booleans())
def test_flash_does_no_more_flops_than_naive_and_the_same_without_a_mask(
    shape: dict[str, Any], causal: bool
) -> None:
    naive = costs.attention_cost(**shape, algorithm="naive", causal=causal)
    flash = costs.attention_cost(**shape, algorithm="flash", causal=causal)
    assert flash.flops <= naive.flops
    assert causal or flash.flops == naive.flops
    assert flash.bytes_read < naive.bytes_read


@many
@given(shape=SHAPES)
def test_causal_flash_sees_the_keys_that_counting_finds(shape: dict[str, Any]) -> None:
    queries, keys = shape["queries"], shape["keys"]
    seen = sum(keys - queries + index + 1 for index in range(queries))
    flash = costs.attention_cost(**shape, algorithm="flash", causal=True)
    pair = 4 * shape["head_dim"] + shape["table"].softmax
    assert flash.flops == shape["batch"] * shape["heads"] * seen * pair


@many
@given(parameters=st.integers(1, 10**12))
def test_an_adamw_step_moves_28_bytes_a_parameter(parameters: int) -> None:
    step = costs.optimizer_step_cost(parameters, recipe("adamw-bf16"), element_flops())
    assert step.bytes_moved == 28 * parameters


NAMES = [f"t{index}" for index in range(6)]


@st.composite
def chains(draw: st.DrawFn) -> list[Op]:
    """Up to six ops over six tensors, read and written in any order, in place too."""
    size = {name: draw(st.integers(0, 1000)) for name in NAMES}
    some = st.sets(st.sampled_from(NAMES), max_size=3)
    return [
        Op(
            name=f"op{index}",
            flops=draw(st.integers(0, 1000)),
            reads={name: size[name] for name in draw(some)},
            writes={name: size[name] for name in draw(some)},
        )
        for index in range(draw(st.integers(0, 6)))
    ]


KEEP = st.sets(st.sampled_from([*NAMES, "nobody"]))


@many
@given(ops=chains(), keep=KEEP)
def test_fusing_never_adds_bytes_and_changes_no_flops(ops: list[Op], keep: set[str]) -> None:
    fused = fusion.fused_cost(ops, sorted(keep))
    assert fused.after.bytes_read <= fused.before.bytes_read
    assert fused.after.bytes_written <= fused.before.bytes_written
    assert fused.after.flops == fused.before.flops


@many
@given(ops=chains(), keep=KEEP, name=st.sampled_from(NAMES))
def test_keeping_more_never_moves_less(ops: list[Op], keep: set[str], name: str) -> None:
    few, more = fusion.fused_cost(ops, sorted(keep)), fusion.fused_cost(ops, sorted(keep | {name}))
    assert more.after.bytes_written >= few.after.bytes_written
    assert more.after.bytes_read == few.after.bytes_read
    assert more.before == few.before


@many
@given(ops=chains())
def test_fusing_one_op_changes_nothing(ops: list[Op]) -> None:
    for op in ops:
        fused = fusion.fused_cost([op])
        assert fused.after == fused.before


@many
@given(ops=chains(), keep=KEEP, cut=st.integers(0, 6))
def test_fusing_all_moves_no_more_than_fusing_two_parts(ops: list[Op], keep: set[str], cut: int) -> None:
    # The first part has to hand on whatever it makes that the second reads.
    handed_on = {name for op in ops[cut:] for name in op.reads}
    first = fusion.fused_cost(ops[:cut], sorted(keep | handed_on))
    second = fusion.fused_cost(ops[cut:], sorted(keep))
    whole = fusion.fused_cost(ops, sorted(keep))
    assert whole.after.bytes_moved <= first.after.bytes_moved + second.after.bytes_moved


TICKS = st.lists(st.integers(0, 100), min_size=1, max_size=20)
"""Times in whole ticks: their sums are exact."""


@many
@given(kernels=TICKS, launch=st.integers(0, 50), graph=st.integers(0, 200))
def test_the_chain_is_launch_bound_exactly_if_it_waits_after_its_first_launch(
    kernels: list[int], launch: int, graph: int
) -> None:
    times = fusion.launch_bound(kernels, launch, graph)
    assert times.device_s == sum(kernels)
    assert times.graph_s == graph + sum(kernels)
    assert times.eager_s >= max(launch + sum(kernels), launch * len(kernels) + kernels[-1])
    assert times.eager_s <= launch * len(kernels) + sum(kernels)
    assert (times.bound == "launch") == (times.eager_s > times.device_s + launch)


@many
@given(kernels=TICKS, launch=st.integers(0, 50), more=st.integers(1, 20), data=st.data())
def test_longer_kernels_and_launches_never_end_earlier(
    kernels: list[int], launch: int, more: int, data: st.DataObject
) -> None:
    base = fusion.launch_bound(kernels, launch, 10)
    assert fusion.launch_bound(kernels, launch + more, 10).eager_s >= base.eager_s
    index = data.draw(st.integers(0, len(kernels) - 1))
    longer = [each + more * (place == index) for place, each in enumerate(kernels)]
    assert fusion.launch_bound(longer, launch, 10).eager_s >= base.eager_s
