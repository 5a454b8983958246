"""Sums the columns."""

EXERCISE = "row_sums"
HINT = "Which dimension goes away?"
FAILS = ("test_sums_rows", "test_sums_rows_hidden")


def row_sums(x):
    return x.sum(0)
