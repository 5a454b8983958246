"""The verbs in this process: a call and its gradients, of functions and of `torch.autograd.Function`s."""

import inspect

import pytest
import torch

from grader.worker import verbs


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, power=3):
        ctx.save_for_backward(x)
        return x**3, x.detach() * 2

    @staticmethod
    def backward(ctx, grad_output, unused):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad_output, None


def gradients(function, *args, options=None, **kwargs):
    prepared, given, named = verbs.prepare(
        "gradients", verbs.callable_of(function), args, kwargs, options or {}
    )
    return prepared(*given, **named)


X, Y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, -1.0])


def test_gradients_are_those_by_every_tensor_of_floats():
    value, found = gradients(lambda x, n, y: n * x * y, X, 2, y=Y)
    assert torch.equal(value, 2 * X * Y)
    assert not value.requires_grad
    assert [gradient.tolist() for gradient in found] == [(2 * Y).tolist(), (2 * X).tolist()]


def test_grad_outputs_weigh_the_first_output():
    _, (found,) = gradients(lambda x: (x * x, x), X, options={"grad_outputs": Y})
    assert torch.equal(found, 2 * X * Y)


def test_grad_outputs_can_weigh_each_output_and_leave_one_out():
    seeds = (None, Y, torch.ones(2))
    _, (found,) = gradients(lambda x: (x**5, x * x, 7 * x), X, options={"grad_outputs": seeds})
    assert torch.equal(found, 2 * X * Y + 7)


def test_only_what_is_asked_for_requires_gradients():
    seen = []

    def function(x, y):
        seen.append((x.requires_grad, y.requires_grad))
        return x * y

    _, found = gradients(function, X, y=Y, options={"wrt": ("y",)})
    assert seen == [(False, True)]
    assert len(found) == 1
    assert torch.equal(found[0], X)


def test_where_the_value_does_not_depend_on_an_input_there_is_no_gradient():
    _, found = gradients(lambda x, y: x.detach() + y, X, Y)
    assert found[0] is None
    assert torch.equal(found[1], torch.ones(2))
    assert gradients(lambda x: 3.0, X)[1] == (None,)
    assert gradients(lambda x: x.detach(), X)[1] == (None,)


def test_an_autograd_function_is_called_by_apply_and_named_like_its_forward():
    apply = verbs.callable_of(Cube)
    assert list(inspect.signature(apply).parameters) == ["x", "power"]
    assert apply.__name__ == "Cube"
    value, (found,) = gradients(Cube, X)
    assert torch.equal(value[0], X**3)
    assert torch.equal(found, 3 * X**2)


def test_a_plain_call_hands_the_arguments_on_as_they_are():
    prepared, args, kwargs = verbs.prepare("call", max, [X], {"key": 1}, {})
    assert prepared is max
    assert args[0] is X
    assert kwargs == {"key": 1}


def test_the_arguments_of_the_caller_stay_without_gradients():
    gradients(lambda x: x * x, X)
    assert not X.requires_grad
    assert X.grad is None


def test_a_gradient_of_another_shape_is_the_students_error():
    with pytest.raises(RuntimeError, match="shape"):
        gradients(lambda x: x.sum(), X, options={"grad_outputs": Y})
