"""N ranks of a student's code: processes with a recorded process group, and the watcher that finds what goes wrong.

Staged into the worker as `_rooflab_worker.ranks`. `evidence` and `wire_formulas` are the judge's too and need no torch.
"""
