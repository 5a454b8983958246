# %% [markdown]
# # What to do about it
#
# Section 4 of the handout, `README.md`: the largest share decides.

# %%
"""From a step's breakdown to the one thing that helps most."""

from specs import Remedy, RemedyName, StepBreakdown


# %% nbgrader={"grade": false, "grade_id": "profiling.remedy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def remedy(breakdown: StepBreakdown) -> Remedy:
    """What to do about a step: the remedy for where most of its time goes.

    | name | its time | what to do |
    | --- | --- | --- |
    | fine | matmul and attention | nothing, or a better kernel |
    | fuse | memory_bound | compile, fused kernels |
    | overlap | exposed_communication and copy | buckets, prefetch, pinned memory, another stream |
    | loader | idle_data | workers, prefetch, a cheaper transform |
    | launch_bound | idle_host | CUDA graphs, a larger batch, no waiting for results |

    Args:
        breakdown: of one step; its duration is above 0. Communication that is overlapped costs no time.

    Returns:
        Remedy(name, share): the remedy whose time is the largest, of equal ones the first in the table, and its
        share of the step's duration.
    """
    ### BEGIN SOLUTION
    seconds: dict[RemedyName, float] = {
        "fine": breakdown.matmul_s + breakdown.attention_s,
        "fuse": breakdown.memory_bound_s,
        "overlap": breakdown.exposed_communication_s + breakdown.copy_s,
        "loader": breakdown.idle_data_s,
        "launch_bound": breakdown.idle_host_s,
    }
    name = max(seconds, key=seconds.__getitem__)
    return Remedy(name=name, share=seconds[name] / breakdown.duration_s)
    ### END SOLUTION
