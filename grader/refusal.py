"""What a command raises for bad input. Not in `cli`, which as `python -m grader.cli` is two modules."""


class BadInput(Exception):
    """Something that the caller can mend; the text is the whole message."""
