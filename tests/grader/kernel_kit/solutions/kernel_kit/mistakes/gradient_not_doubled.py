"""Passes the gradient through."""

from ..vector import Double as Right

EXERCISE = "double"
HINT = "What is the derivative of 2 x?"
FAILS = ("test_doubles", "test_doubles_hidden")


class Double(Right):
    @staticmethod
    def backward(ctx, grad_output):
        return grad_output
