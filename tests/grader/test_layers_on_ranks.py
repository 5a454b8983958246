"""The checks of layers on ranks: other right answers pass, and odd ones fail with a message and nothing else."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from grader.calls.faults import CheckFailed, Fault  # noqa: E402  # after the line that skips
from grader.calls.runner import LocalRunner  # noqa: E402  # as above
from grader.calls.submission import Submission  # noqa: E402  # as above
from grader.checks import ring  # noqa: E402  # as above
from grader.checks.expect import Expect  # noqa: E402  # as above
from grader.checks.ranked import communicates, kept, layer_values  # noqa: E402  # as above
from kernels_ref import inputs  # noqa: E402  # as above
from kernels_ref.shards import blocks, linear, sequence  # noqa: E402  # as above
from kernels_ref.shards.case import Case  # noqa: E402  # as above
from specs.assignment import assignment  # noqa: E402  # as above

pytestmark = pytest.mark.ranks

HERE = Path(__file__).parent
FILES = ("tensor_parallel.py", "ring_attention.py")

CASES: dict[str, tuple[str, Callable[[], Case]]] = {
    "columns": ("ColumnParallelLinear", lambda: linear.column(1, 2, 12, 8, (2, 3))),
    "columns_uneven": (
        "ColumnParallelLinear",
        lambda: linear.column(2, 3, 40, 31, (1, 3), gather_output=True),
    ),
    "rows": ("RowParallelLinear", lambda: linear.row(3, 2, 8, 12, (2, 3))),
    "rows_uneven": ("RowParallelLinear", lambda: linear.row(4, 3, 31, 40, (1, 3), input_is_parallel=False)),
    "mlp": ("ParallelMLP", lambda: blocks.mlp(5, 2, 8, 16, (2, 3))),
    "attention": ("ParallelAttention", lambda: blocks.attention(6, 2, 8, 3, 4, 2, 3)),
    "way_in": ("SequenceColumnParallelLinear", lambda: sequence.sequence_column(7, 2, 12, 8, (2, 6))),
    "way_out": ("SequenceRowParallelLinear", lambda: sequence.sequence_row(8, 2, 8, 12, (2, 6))),
}
"""By name: the class, and the case that it is run on."""
WITHOUT_ROUTE = ("mlp", "way_out")
"""These are short: there is hardly another way to write them."""


def exercise_of(name: str) -> str:
    found = [each for each in assignment("sharding").exercises if name in each.functions]
    return f"sharding.{found[0].id}"


def seen_of(submission: Submission, name: str, case: Case) -> Any:
    submission.begin_check(exercise_of(name))
    layer = getattr(submission.sharding, name)
    return layer.on_ranks(case.args, scenario="module", init=case.init, options=case.options)


def answers(source: str, folder: Path) -> Iterator[Submission]:
    (folder / "sharding").mkdir()
    for file in FILES:
        shutil.copy(HERE / source, folder / "sharding" / file)
    runner = LocalRunner(folder)
    yield Submission(runner)
    runner.close()


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Submission]:
    yield from answers("layers_routes.py", tmp_path_factory.mktemp("routes"))


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Submission]:
    yield from answers("layers_odd.py", tmp_path_factory.mktemp("odd"))


@pytest.mark.parametrize("name", [name for name in CASES if name not in WITHOUT_ROUTE])
def test_a_right_layer_by_another_route_passes(routes: Submission, name: str) -> None:
    layer, make = CASES[name]
    case = make()
    seen = seen_of(routes, layer, case)
    layer_values(Expect(), seen, case, name)
    communicates(Expect(), seen, case, name)
    kept(Expect(), seen, case, name)


@pytest.mark.parametrize(("ranks", "tokens", "causal"), [(3, 13, False), (4, 32, True), (3, 13, True)])
def test_a_ring_the_other_way_round_with_running_sums_passes(
    routes: Submission, ranks: int, tokens: int, causal: bool
) -> None:
    tensors = inputs.peaked(1, tokens, tokens, 8, leading=(2,), query_scale=2.0)
    routes.begin_check("sharding.ring_attention")
    seen = routes.sharding.ring_attention.on_ranks(
        ring.shared(tensors, ranks, causal), scenario="counted", causal=causal
    )
    told = ring.counted(Expect(), seen)
    ring.values(Expect(), [each["value"] for each in told], tensors, ranks, causal, "ring")
    ring.traffic(Expect(), seen, tensors, ranks, "ring")
    if causal and tokens % (2 * ranks) == 0:
        ring.work(Expect(), told, tensors, ranks, "ring")


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_an_odd_layer_fails_with_a_message(odd: Submission, name: str, hidden: bool) -> None:
    layer, make = CASES[name]
    case = make()
    with pytest.raises(Fault) as failed:  # noqa: PT012  # either may be the one that fails
        seen = seen_of(odd, layer, case)
        layer_values(Expect(hidden), seen, case, name)
    assert len(failed.value.message) > 20


def test_lists_for_tensors_are_no_attention(odd: Submission) -> None:
    tensors = inputs.peaked(2, 8, 8, 4)
    odd.begin_check("sharding.ring_attention")
    seen = odd.sharding.ring_attention.on_ranks(ring.shared(tensors, 2, False), causal=False)
    with pytest.raises(CheckFailed, match="out must be a tensor"):
        ring.values(Expect(), list(seen.values), tensors, 2, False, "ring")


REPORT = {
    "kind": "",
    "output": None,
    "gradient_of_x": None,
    "gradients": {},
    "shapes": {},
    "held_bytes": 0,
    "changed": [],
}


@pytest.mark.parametrize(
    "forged",
    [
        None,
        {},
        {**REPORT, "kind": 3},
        {**REPORT, "output": "yes"},
        REPORT,
        {**REPORT, "output": 1.0},
        {**REPORT, "kind": "x", "gradients": [1]},
        {**REPORT, "kind": "x", "gradients": {1: None}},
        {**REPORT, "kind": "x", "shapes": {"weight": "wide"}},
        {**REPORT, "kind": "x", "shapes": {"weight": (1.5,)}},
        {**REPORT, "kind": "x", "held_bytes": True},
        {**REPORT, "kind": "x", "held_bytes": None},
        {**REPORT, "kind": "x", "changed": "all"},
        {**REPORT, "kind": "x", "changed": [b"x"]},
    ],
)
def test_a_forged_report_is_no_report(forged: object) -> None:
    case = CASES["columns"][1]()
    seen = SimpleNamespace(values=(forged, forged), collectives=((), ()), wire_bytes=0)
    for check in (layer_values, kept, communicates):
        with pytest.raises(CheckFailed, match="no whole report"):
            check(Expect(), seen, case, "forged")


def test_a_hidden_check_repeats_no_name_that_the_submission_chose() -> None:
    case = CASES["columns"][1]()
    secret = "w0_173"
    wrong = {**REPORT, "output": torch.zeros(2, 3, 6), "shapes": {secret: (1,)}, "gradients": {secret: None}}
    for forged in (wrong, {**wrong, "kind": secret}, {**wrong, "changed": [secret]}):
        seen = SimpleNamespace(values=(forged, forged), collectives=((), ()), wire_bytes=0)
        for only in (["output"], ["gradient of weight"], []):
            with pytest.raises(CheckFailed) as failed:  # noqa: PT012  # either may be the one that fails
                layer_values(Expect(hidden=True), seen, case, "columns", only=only)
                kept(Expect(hidden=True), seen, case, "columns")
            assert secret not in failed.value.message


def test_right_values_of_ranks_that_never_speak_are_told_to_be_computed_alone() -> None:
    case = CASES["mlp"][1]()
    told = [
        {
            **REPORT,
            "output": wanted["output"][1],
            "gradient_of_x": wanted["gradient of x"][1],
            "gradients": {
                name.removeprefix("gradient of "): value[1]
                for name, value in wanted.items()
                if name not in ("output", "gradient of x")
            },
            "shapes": case.shapes[rank],
        }
        for rank, wanted in enumerate(case.wanted)
    ]
    seen = SimpleNamespace(values=tuple(told), collectives=((), ()), wire_bytes=0)
    with pytest.raises(CheckFailed, match="each computes the whole alone"):
        layer_values(Expect(), seen, case, "MLP")
