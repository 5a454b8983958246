"""Only computation is looked at."""

from specs import Cluster, Gpt, Plan

from ._plans import best_plan

EXERCISE = "plan"
HINT = "You compare computation only. Traffic that nothing hides, and the bubble, are part of the step: compare step_s."
FAILS = (
    "test_plans_come_near_the_best_that_fits",
    "test_any_jobs_plan",
)


def plan(gpt: Gpt, batch: int, cluster: Cluster) -> Plan:
    return best_plan(gpt, batch, cluster, rating=lambda plan, cost: cost.compute_s)
