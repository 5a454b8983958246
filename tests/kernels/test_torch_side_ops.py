"""Operations counted, arguments changed in place, and what the watch withstands."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from grader.kernels.recorder.ledger import Ledger
from grader.kernels.recorder.torch_side import TorchSide

ROOT = Path(__file__).resolve().parents[2]
Q = torch.randn(1, 2, 8, 16, generator=torch.Generator().manual_seed(0))


def ops(function, *args):
    """Operations of one watched call."""
    side = TorchSide(Ledger(), {})
    with side:
        value = function(*args)
    assert side.intact
    return side.finish(value).ops


def changed(function, *args, **options):
    """Findings of one watched call whose arguments are q, k, v."""
    side = TorchSide(Ledger(), dict(zip("qkv", args, strict=False)), **options)
    with side:
        value = function(*args)
    side.finish(value)
    return side.findings


# operations


def test_every_operation_is_counted_by_its_name_views_too():
    """Names without the overload."""
    assert ops(lambda q: (q + 1).transpose(0, 1) + q.mul(2).mul(q), Q) == {
        "aten.add": 2,
        "aten.transpose": 1,
        "aten.mul": 2,
    }


def test_library_attention_shows_in_or_out_of_inference_mode():
    """Inference mode hands over composite operations whole: they are taken apart all the same."""
    name = "aten._scaled_dot_product_flash_attention_for_cpu"
    assert ops(F.scaled_dot_product_attention, Q, Q, Q) == {name: 1}
    with torch.inference_mode():
        assert ops(F.scaled_dot_product_attention, Q, Q, Q) == {name: 1}
        assert ops(lambda q: torch.softmax(q @ q.mT, -1), Q)["aten.bmm"] == 1


def test_matmul_and_softmax_show_as_what_does_the_work():
    """A matmul is a bmm or an mm, a softmax an _softmax."""
    seen = ops(lambda q: torch.softmax(torch.matmul(q, q.mT), -1) @ q, Q)
    assert seen["aten.bmm"] == 2
    assert seen["aten._softmax"] == 1
    assert ops(lambda q: torch.einsum("bhid,bhjd->bhij", q, q), Q)["aten.bmm"] == 1


def test_backward_inside_a_function_is_seen():
    """Both the library's backward and the Python of an autograd.Function run under the watch."""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return torch.tanh(grad)

    def function(q):
        return torch.autograd.grad(Double.apply(q).exp().sum(), q)

    seen = ops(function, Q.clone().requires_grad_())
    assert seen["aten.tanh"] == 1
    assert seen["aten.exp"] == 1


def test_threads_started_in_the_call_are_seen():
    """Library work in a helper thread, of its own or of a pool, is work of the call."""

    def function(q):
        thread = threading.Thread(target=lambda: q.exp())
        thread.start()
        thread.join()
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(torch.tanh, [q, q, q]))

    seen = ops(function, Q)
    assert seen["aten.exp"] == 1
    assert seen["aten.tanh"] == 3
    assert threading.Thread.start.__module__ == "threading"


def test_a_compiled_function_runs_op_by_op_under_the_watch():
    """torch.compile gives way to a dispatch mode, so nothing hides in generated code."""
    assert ops(torch.compile(lambda q: q.exp() + 1), Q) == {"aten.exp": 1, "aten.add": 1}


@pytest.mark.filterwarnings("ignore:flex_attention called without")
def test_flex_attention_shows():
    """A higher-order operator is counted by its name; its generated kernel cannot run under a watch."""
    from torch.nn.attention.flex_attention import flex_attention

    side = TorchSide(Ledger(), {})
    with pytest.raises(RuntimeError, match=r"torch\.compile"), side:
        flex_attention(Q, Q, Q)
    assert side.finish(None).ops["flex_attention"] == 1


def test_a_subclass_is_taken_apart():
    """A wrapper tensor's own operations come as the ones that it runs inside."""

    class Wrapper(torch.Tensor):
        @staticmethod
        def __new__(cls, inner):
            made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
            made.inner = inner
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return cls(torch.tanh(args[0].inner))

    assert ops(lambda q: Wrapper(q).exp(), Q) == {"aten.tanh": 1}


@pytest.mark.parametrize("way", [np.asarray, np.from_dlpack, torch.Tensor.numpy])
def test_every_way_to_an_array_has_one_name(way):
    """What an exercise says of `.numpy()` holds for what numpy itself asks a tensor for."""
    assert ops(lambda q: way(q.detach()), Q)["Tensor.numpy"] == 1


def test_paused_leaves_the_recorder_s_own_calls_out():
    """What the interpreter does with PyTorch is no work of the student's; pauses nest."""
    side = TorchSide(Ledger(), {"q": Q})
    q = Q.clone()
    with side:
        with side.paused():
            with side.paused():
                torch.empty(3).sum()
            Q.add_(0)
            q.numpy()
        q.exp()
    work = side.finish(None)
    assert work.ops == {"aten.exp": 1}
    assert work.peak_temporary_bytes == 4 * Q.numel()
    assert side.findings == []


# arguments


@pytest.mark.parametrize(
    ("function", "operation"),
    [
        (lambda q: q.mul_(2), "aten.mul_"),
        (lambda q: q[0, 0, :3].zero_(), "aten.zero_"),
        (lambda q: q.view(-1).__setitem__(3, 1.0), "aten.copy_"),
        (lambda q: torch.exp(q, out=q), "aten.exp"),
        (lambda q: q.data.copy_(q * 2), "aten.copy_"),
        (lambda q: q.transpose(0, 1).index_fill_(0, torch.tensor([0]), 1.0), "aten.index_fill_"),
        (lambda q: torch._foreach_add_([q], 1), "aten._foreach_add_"),
    ],
)
def test_a_changed_argument_is_found_with_operation_and_line(function, operation):
    """Directly, through a view, by out=, through .data."""
    (found,) = changed(function, Q.clone())
    assert (found.kind, found.tensor) == ("modified_input", "q")
    assert found.message.startswith(f"{operation} changes the argument q itself")
    assert operation.strip("_").removeprefix("aten.").split("_")[0] in found.place.source or found.place.line


@pytest.mark.parametrize(
    "function",
    [
        lambda q: q.clone().mul_(2),
        lambda q: q.contiguous() * 2,
        lambda q: q.detach().unsqueeze_(0).squeeze_(0),
        lambda q: (q + 1).add_(q),
        lambda q: q.detach_().requires_grad_(),
        lambda q: q.numpy().sum(),
        lambda q: torch.empty(0).set_(q).sum(),
        lambda q: q.view(-1)[:0].zero_(),
        lambda q: torch.empty_like(q).copy_(q),
    ],
)
def test_an_argument_only_read_is_not_changed(function):
    """Copies may be written, views made, metadata of a view altered."""
    assert changed(function, Q.clone()) == []


def test_interleaved_arguments_are_told_apart():
    """q, k, v of one storage: a write through k changes k only."""
    q, k, v = torch.randn(8, 3, 16).unbind(1)
    found = changed(lambda q, k, v: k.mul_(2), q, k, v)
    assert [f.tensor for f in found] == ["k"]


def test_an_output_argument_may_be_written():
    """A function that is given its output to fill."""
    assert changed(lambda q, k: k.copy_(q), Q, Q.clone(), may_write={"k"}) == []


def test_a_gradient_on_an_argument_is_no_change_to_it():
    """backward() accumulates into .grad, not into the tensor."""
    q = Q.clone().requires_grad_()
    assert changed(lambda q: [(q * q).sum().backward() for _ in range(2)], q) == []


# what it withstands


def test_an_error_half_way_leaves_nothing_behind():
    """The modes are off, threads start as before, and the figures up to there are kept."""

    def function(q):
        q.exp()
        raise ValueError("mine")

    side = TorchSide(Ledger(), {"q": Q})
    with pytest.raises(ValueError, match="mine"), side:
        function(Q)
    assert side.finish(None).ops == {"aten.exp": 1}
    Q.tanh()
    assert side.finish(None).ops == {"aten.exp": 1}
    assert threading.Thread.start.__module__ == "threading"


def test_tensors_without_memory_do_no_harm():
    """Sparse, meta, nested and functional tensors, complex views, empty ones."""

    def function(q):
        sparse = torch.eye(4).to_sparse()
        torch.sparse.mm(sparse, torch.ones(4, 4)).sum()
        (torch.empty(3, device="meta") + 1).sum()
        torch.vmap(lambda row: row * 2)(q)
        torch.func.grad(lambda x: (x * x).sum())(q)
        torch.view_as_complex(torch.ones(3, 2)).conj().sum()
        torch.zeros(0).sum()
        torch.zeros(3, 0)[:, :0].fill_(1)
        return torch.zeros(1 << 4, dtype=torch.int8).view(torch.float32) + np.float32(1)

    assert ops(function, Q)["aten.sum"] >= 5


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_grad_modes_make_no_difference_to_the_figures(context):
    """The same operations and the same bytes."""

    def function(q):
        with context():
            s = torch.softmax(q.detach() @ q.detach().mT, -1)
            return s @ q.detach()

    side = TorchSide(Ledger(), {"q": Q})
    with side:
        value = function(Q)
    work = side.finish(value)
    assert work.peak_temporary_bytes == 2 * 4 * 2 * 8 * 8
    assert work.ops["aten.bmm"] == 2


def test_values_are_those_without_the_watch():
    """Watching changes no result."""

    def function(q):
        x = torch.empty_like(q)
        x[:] = q
        x[x > 0] = 1
        return F.layer_norm(x.tril() @ q.mT, (8,)).sum()

    side = TorchSide(Ledger(), {"q": Q})
    with side:
        value = function(Q)
    assert torch.equal(value, function(Q))


def test_a_watch_that_was_switched_off_is_noticed():
    """Taking the mode off the stack and leaving it off shows at the end."""
    from torch.utils._python_dispatch import _pop_mode, _push_mode

    class Idle(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    side = TorchSide(Ledger(), {})
    with side:
        _pop_mode()
        _push_mode(Idle())
        Q.exp()
    assert not side.intact
    assert side.finish(None).ops == {}


def test_the_line_is_the_submission_s_even_below_another_file(tmp_path):
    """With a root, frames of other folders are passed over, the test's own among them."""
    (tmp_path / "mine.py").write_text("def double(x):\n    return x.mul_(2)\n", encoding="utf-8")
    scope: dict = {}
    exec(compile((tmp_path / "mine.py").read_text(), str(tmp_path / "mine.py"), "exec"), scope)
    (found,) = changed(scope["double"], Q.clone(), root=str(tmp_path.resolve()))
    assert (found.place.file, found.place.line) == (str(tmp_path / "mine.py"), 2)
    assert found.place.source == "return x.mul_(2)"
    (elsewhere,) = changed(lambda q: q.mul_(2), Q.clone(), root=str(tmp_path.resolve()))
    assert elsewhere.place.line == 0


def test_a_mode_taken_off_and_left_off_is_noticed_and_does_no_harm():
    """The end of the watch raises nothing, and threads start as before."""
    from torch.utils._python_dispatch import _pop_mode

    side = TorchSide(Ledger(), {})
    with side:
        _pop_mode()
    assert not side.intact
    assert threading.Thread.start.__module__ == "threading"


def test_the_watch_does_not_import_the_compiler():
    """torch._dynamo takes seconds to import: an interpreted call has no use for it."""
    code = (
        "import sys, torch\n"
        "from grader.kernels.recorder.ledger import Ledger\n"
        "from grader.kernels.recorder.torch_side import TorchSide\n"
        "with TorchSide(Ledger(), {}): torch.ones(3).sum()\n"
        "sys.exit('torch._dynamo' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60).returncode == 0
