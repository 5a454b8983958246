"""What a command raises for bad input, and its exit codes: not in `cli`, which `python -m grader.cli` loads twice."""

USAGE_ERROR = 2
SOME_NOT_GRADED = 3
INTERRUPTED = 130


class BadInput(Exception):
    """Something that the caller can mend; the text is the whole message."""
