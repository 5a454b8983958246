# %% [markdown]
# # Sums of rows

# %%
"""Sums of rows, in PyTorch."""


# %% nbgrader={"grade": false, "grade_id": "kernel_kit.row_sums", "locked": false, "schema_version": 3, "solution": true, "task": false}
def row_sums(x):
    """The sum of each row."""
    ### BEGIN SOLUTION
    return x.sum(1)
    ### END SOLUTION
