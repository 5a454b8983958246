"""The search for a plan with what it prefers and leaves out given; for the mistakes about plans."""

from collections.abc import Callable

from specs import Cluster, Gpt, Plan, PlanCost, plan_cost

Rating = Callable[[Plan, PlanCost], float]


def _divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]


def best_plan(
    gpt: Gpt,
    batch: int,
    cluster: Cluster,
    *,
    rating: Rating = lambda plan, cost: cost.step_s,
    allowed: Callable[[Plan], bool] = lambda plan: True,
    must_fit: bool = True,
) -> Plan:
    """Of the plans that are allowed, the one with the lowest rating; the widest data parallelism if there is none."""
    best, lowest = None, float("inf")
    gpus = cluster.gpus
    shapes = [
        (data, tensor, pipeline, gpus // (data * tensor * pipeline))
        for tensor in _divisors(gpus)
        for pipeline in _divisors(gpus // tensor)
        for data in _divisors(gpus // tensor // pipeline)
        if batch % data == 0 and tensor <= cluster.gpus_per_node
        if gpt.heads % tensor == 0 and gpt.layers % pipeline == 0
    ]
    for data, tensor, pipeline, context in shapes:
        for microbatch in _divisors(batch // data):
            for zero in (0, 1, 2, 3) if pipeline == 1 else (0, 1):
                for recomputation in ("none", "selective", "full"):
                    tried = Plan(data, tensor, pipeline, context, zero, recomputation, microbatch)
                    if not allowed(tried):
                        continue
                    cost = plan_cost(gpt, batch, cluster, tried)
                    if cost.problem or (must_fit and not cost.fits):
                        continue
                    rated = rating(tried, cost)
                    if rated < lowest:
                        best, lowest = tried, rated
    return best or Plan(gpus, 1, 1, 1, 1, "full", 1)
