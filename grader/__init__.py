"""The engine: runs submissions, compares, scores, reports."""

__version__ = "0.1.0"
