"""Only the batch is cut."""

from specs import Cluster, Gpt, Plan

from ._plans import best_plan

EXERCISE = "plan"
HINT = "You cut only the batch. One long sequence, or few tokens for each GPU, and the other cuts are faster."
FAILS = (
    "test_plans_come_near_the_best_that_fits",
    "test_any_jobs_plan",
)


def plan(gpt: Gpt, batch: int, cluster: Cluster) -> Plan:
    return best_plan(gpt, batch, cluster, allowed=lambda plan: plan.data == cluster.gpus)
