"""The fastest plan is taken whether it fits or not."""

from specs import Cluster, Gpt, Plan

from ._plans import best_plan

EXERCISE = "plan"
HINT = "Your plan is the fastest of all, and some GPU runs out of memory. Leave out what does not fit."
FAILS = (
    "test_plans_come_near_the_best_that_fits",
    "test_any_jobs_plan",
)


def plan(gpt: Gpt, batch: int, cluster: Cluster) -> Plan:
    return best_plan(gpt, batch, cluster, must_fit=False)
