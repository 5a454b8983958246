"""The tensor group is always a whole node."""

from specs import Cluster, Gpt, Plan

from ._plans import best_plan

EXERCISE = "plan"
HINT = "Your tensor group always fills the node. Its all-reduces are never hidden: use as few ways as fit."
FAILS = (
    "test_plans_come_near_the_best_that_fits",
    "test_any_jobs_plan",
)


def plan(gpt: Gpt, batch: int, cluster: Cluster) -> Plan:
    return best_plan(
        gpt, batch, cluster, allowed=lambda plan: plan.tensor == min(cluster.gpus, cluster.gpus_per_node)
    )
