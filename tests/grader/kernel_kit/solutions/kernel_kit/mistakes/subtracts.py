"""Subtracts instead of adding."""

from ..vector import add as right

EXERCISE = "add"
ALSO = ("add_ragged",)
HINT = "Look at the sign."
FAILS = ("test_adds", "test_adds_hidden")


def add(x, y):
    return right(x, -y)
