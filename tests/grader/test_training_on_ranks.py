"""The checks of training on ranks: other right answers pass, and odd ones fail with a message and nothing else."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from grader.calls.faults import CheckFailed, Fault, Raised, RanksHang  # noqa: E402  # after the line that skips
from grader.calls.runner import LocalRunner  # noqa: E402  # as above
from grader.calls.submission import Submission  # noqa: E402  # as above
from grader.checks import averaged, piped, sharded_training  # noqa: E402  # as above
from grader.checks.expect import Expect  # noqa: E402  # as above
from kernels_ref.shards.training import batch, matrices  # noqa: E402  # as above
from specs.assignment import assignment  # noqa: E402  # as above

pytestmark = pytest.mark.ranks

HERE = Path(__file__).parent
FILES = ("data_parallel.py", "sharded.py", "pipeline.py")
GPIPE = [
    (0, 0, 0, "F"), (1, 0, 1, "F"), (1, 1, 0, "F"), (2, 1, 1, "F"),
    (3, 1, 0, "B"), (4, 1, 1, "B"), (4, 0, 0, "B"), (5, 0, 1, "B"),
]  # fmt: skip


def ddp(submission: Submission, expect: Expect) -> None:
    weights = [matrices(rank, (3, 4), (4, 4), (4, 2)) for rank in range(2)]
    steps = [
        [((0, 1, 2), [batch(rank, 2, 3, 2), batch(5 + rank, 2, 3, 2)]), ((0, 2), [batch(9, 2, 3, 2)])]
        for rank in range(2)
    ]
    averaged.overlapped_steps(submission, expect, "three layers", weights, steps, bucket_bytes=64)


def zero(submission: Submission, expect: Expect) -> None:
    values = matrices(1, (30, 21), (21, 10))
    by_step = [matrices(seed, (30, 21), (21, 10)) for seed in (2, 3)]
    sharded_training.optimizer_steps(submission, expect, "two", 3, values, by_step, order=[0, 1, 0])


def fsdp(submission: Submission, expect: Expect) -> None:
    shapes = [(48, 96), (96, 48)]
    blocks = [[(matrices(10 * rank + index, *shapes), [0, 1]) for index in range(8)] for rank in range(2)]
    steps = [[batch(rank, 2, 48, 48)] for rank in range(2)]
    sharded_training.sharded_blocks(submission, expect, "eight blocks", blocks, steps, memory=True)


def pipeline(submission: Submission, expect: Expect) -> None:
    stages = [matrices(1, (3, 4)), matrices(2, (4, 2))]
    piped.pipeline_step(submission, expect, "GPipe", stages, GPIPE, [batch(m, 2, 3, 2) for m in range(2)])


def naive(submission: Submission, expect: Expect) -> None:
    averaged.naive_step(submission, expect, "two ranks", matrices(1, (3, 2)), [[batch(1, 2, 3, 2)], []])


def broadcast(submission: Submission, expect: Expect) -> None:
    given = [(matrices(rank, (2, 2), (3, 1)), [torch.arange(3) + rank]) for rank in range(2)]
    seen = submission.sharding.broadcast_parameters.on_ranks(given, scenario="broadcast")
    averaged.broadcast(expect, seen, given)


CLAIMS: dict[str, Callable[[Submission, Expect], None]] = {
    "naive_ddp": naive,
    "distributed_data_parallel": ddp,
    "sharded_optimizer": zero,
    "fsdp": fsdp,
    "run_pipeline": pipeline,
}


def _answers(source: str, folder: Path) -> Iterator[Submission]:
    (folder / "sharding").mkdir()
    for file in FILES:
        shutil.copy(HERE / source, folder / "sharding" / file)
    runner = LocalRunner(folder)
    yield Submission(runner)
    runner.close()


@pytest.fixture(scope="module")
def other_routes(tmp_path_factory: Any) -> Iterator[Submission]:
    yield from _answers("training_routes.py", tmp_path_factory.mktemp("routes"))


@pytest.fixture(scope="module")
def odd(tmp_path_factory: Any) -> Iterator[Submission]:
    yield from _answers("training_odd.py", tmp_path_factory.mktemp("odd"))


@pytest.mark.parametrize(
    "exercise", ["distributed_data_parallel", "sharded_optimizer", "fsdp", "run_pipeline"]
)
def test_another_right_route_passes(other_routes: Submission, exercise: str) -> None:
    other_routes.begin_check(f"sharding.{exercise}")
    CLAIMS[exercise](other_routes, Expect())


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize(
    ("exercise", "kind", "message"),
    [
        ("naive_ddp", CheckFailed, "NaN"),
        ("distributed_data_parallel", CheckFailed, "returned before the last rank had sent"),
        ("sharded_optimizer", Raised, "rank 0 raised RuntimeError"),
        ("fsdp", CheckFailed, "wrong shape"),
    ],
)
def test_an_odd_answer_fails_with_a_message(
    odd: Submission, exercise: str, kind: type[Fault], message: str, hidden: bool
) -> None:
    odd.begin_check(f"sharding.{exercise}")
    with pytest.raises(kind, match=message):
        CLAIMS[exercise](odd, Expect(hidden=hidden))


def test_parameters_that_were_replaced_are_told(odd: Submission) -> None:
    odd.begin_check("sharding.naive_ddp")
    with pytest.raises(CheckFailed, match="does not hold rank 0's parameters"):
        broadcast(odd, Expect())


def test_a_stage_that_stays_in_its_own_code_is_named(odd: Submission) -> None:
    odd.begin_check("sharding.run_pipeline")
    with pytest.raises(RanksHang, match=r"rank 0 is still in its own code.*time\.sleep"):
        odd.sharding.run_pipeline.on_ranks([(), ()], deadline_s=2.0)


@pytest.mark.parametrize(
    "values",
    [
        (None, None),
        ({}, {}),
        ({"gradients": None, "unchanged": True},) * 2,
        ({"gradients": [], "unchanged": True},) * 2,
        ({"gradients": ["x"], "unchanged": True},) * 2,
        ({"gradients": [torch.ones(7)], "unchanged": True},) * 2,
        ({"gradients": [torch.ones(3, 2)], "unchanged": 1},) * 2,
    ],
)
def test_a_forged_report_is_a_failure_and_no_error_of_the_grader(values: tuple[Any, ...]) -> None:
    class Forged:
        """A submission whose ranks tell what they like."""

        sharding = property(lambda self: self)
        naive_ddp = property(lambda self: self)

        def on_ranks(self, *args: Any, **kwargs: Any) -> Any:
            return type("Seen", (), {"values": values, "collectives": ((), ())})

    with pytest.raises(CheckFailed):
        naive(Forged(), Expect())  # type: ignore[arg-type]  # it has what is asked of it


def test_every_exercise_of_training_has_a_claim() -> None:
    ids = {each.id for each in assignment("sharding").exercises if each.file in FILES}
    assert ids == CLAIMS.keys()
