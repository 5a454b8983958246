"""Scenarios: trusted code that runs in every rank, uses what the student wrote and returns what came of it.

A module here has `run(student, group, *args, **kwargs)`, which returns plain values and tensors. `student` is the
function or class of the student's file, `group` the process group of all ranks.
"""
