"""The pipeline is as deep as it can be."""

from specs import Cluster, Gpt, Plan

from ._plans import best_plan

EXERCISE = "plan"
HINT = "Your pipeline is as deep as it can be, and every stage more makes the bubble larger. Prefer fewer stages where it fits."
FAILS = (
    "test_plans_come_near_the_best_that_fits",
    "test_any_jobs_plan",
)


def plan(gpt: Gpt, batch: int, cluster: Cluster) -> Plan:
    return best_plan(gpt, batch, cluster, rating=lambda plan, cost: cost.step_s - 1e6 * plan.pipeline)
