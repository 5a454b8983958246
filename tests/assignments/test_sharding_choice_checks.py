"""The checks of choices and plans judge what they say: jobs of every cut, and nothing for what cannot run."""

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import pytest

from grader.checks.mistakes import load_solution
from specs import Plan, plan_cost

ROOT = Path(__file__).parents[2]
choice = load_solution(ROOT / "solutions", "sharding", "choice.py")


def _checks(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VISIBLE = _checks(ROOT / "assignments" / "sharding" / "test_choice.py", "visible_choice")
HIDDEN = _checks(ROOT / "solutions" / "sharding" / "hidden" / "test_choice.py", "hidden_choice")


@pytest.mark.parametrize("seed", range(10))
def test_every_course_meets_clear_jobs_of_every_cut_and_plans_that_fit(seed: int) -> None:
    rng = random.Random(seed)
    found = dict.fromkeys(HIDDEN.CUTS, 0)
    for _ in range(1000):
        job = HIDDEN.random_job(rng)
        if HIDDEN.is_clear(*job):
            found[choice.first_choice(*job).cut] += 1
    assert min(found.values()) > 40
    for job in HIDDEN.jobs_to_plan(rng):
        assert plan_cost(*job, choice.plan(*job)).fits


def test_published_times_are_those_of_the_fastest_plans() -> None:
    for model, batch, cluster, best_s in VISIBLE.JOBS.values():
        cost = plan_cost(model, batch, cluster, choice.plan(model, batch, cluster))
        assert cost.step_s == pytest.approx(best_s, rel=1e-8)


def test_what_is_no_plan_cannot_run_or_does_not_fit_counts_nothing() -> None:
    job = VISIBLE.JOBS["7B on 8 H100s"]
    cluster = job[2]
    whole = Plan(
        **dict.fromkeys(("data", "tensor", "pipeline", "context"), 1),
        zero=0,
        recomputation="none",
        microbatch=1,
    )
    copied = whole.model_copy(update={"data": cluster.gpus})
    for got, says in ((None, "is no Plan"), (whole, "cannot run: data"), (copied, "does not fit: ")):
        share, text = VISIBLE.share_of_best(got, *job)
        assert share == 0
        assert text.startswith(says)
    slow = copied.model_copy(update={"zero": 3, "recomputation": "full"})
    share, text = VISIBLE.share_of_best(slow, *job)
    assert 0.5 < share < 0.95
    assert "s is possible" in text


@pytest.mark.parametrize("strategy", ["zero", "tensor", "pipeline"])
def test_no_single_recipe_is_the_best_of_all_jobs(strategy: str) -> None:
    """One cut for every job, recomputed in full so that it fits, is worth something and not everything."""
    shares = []
    for job in VISIBLE.JOBS.values():
        gpus, per_node, batch = job[2].gpus, job[2].gpus_per_node, job[1]
        ways = min(gpus, per_node)
        sizes = {
            "zero": (gpus, 1, 1),
            "tensor": (gpus // ways, ways, 1),
            "pipeline": (gpus // ways, 1, ways),
        }[strategy]
        data, tensor, pipeline = sizes
        made = Plan(
            data=data,
            tensor=tensor,
            pipeline=pipeline,
            context=1,
            zero=3 if pipeline == 1 else 1,
            recomputation="full",
            microbatch=1,
        )
        assert batch % data == 0
        shares.append(VISIBLE.share_of_best(made, *job)[0])
    assert sum(shares) / len(shares) < 0.9
