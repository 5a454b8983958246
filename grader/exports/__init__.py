"""Grades out: reports of `grader grade` as what gradebooks and learning platforms read, and as feedback.

A format is a function of reports; reading, matching with a roster and writing are elsewhere. In every format a
point that is pending, and a submission that could not be graded, is left open and never 0.
"""
