"""Hidden checks of fusion.py: fresh random chains and kernels against the reference."""

import pytest

from specs import Op


def random_chain(rng):
    """Five to nine ops; each reads up to three tensors made so far or from outside, and writes one or two."""
    sizes = {f"in{index}": rng.randint(1, 10**6) for index in range(3)}
    made = []
    ops = []
    for index in range(rng.randint(5, 9)):
        reads = {*rng.sample(sorted(sizes), rng.randint(1, 3)), *made[-1:]}
        writes = [f"t{index}", f"u{index}"][: rng.randint(1, 2)]
        ops.append(
            Op(
                name=f"op{index}",
                flops=rng.randint(0, 10**6),
                reads={name: sizes[name] for name in sorted(reads)},
                writes={name: sizes.setdefault(name, rng.randint(1, 10**6)) for name in writes},
            )
        )
        made += writes
    return ops, made


def check_chains(submission, expect, oracle, chains):
    """Every chain is asked for before the first is compared."""
    got = [submission.roofline.fused_cost(ops, keep) for ops, keep in chains]
    for answer, (ops, keep) in zip(got, chains, strict=True):
        right = oracle.roofline.fused_cost(ops, keep)
        for name in ("before", "after"):
            cost = answer.get(name) if isinstance(answer, dict) else getattr(answer, name, None)
            expect.that(cost is not None, f"{name}: it is missing; FusedCost has before and after")
            expect.terms(cost, getattr(right, name), case=name)


@pytest.mark.exercise("roofline.fusion", weight=2)
def test_any_chain(submission, expect, oracle, rng):
    """Chains in which any op may read what any earlier one wrote, with and without something to keep."""
    chains = []
    for _ in range(6):
        ops, made = random_chain(rng)
        chains += [(ops, ()), (ops, tuple(rng.sample(made, 2)))]
    check_chains(submission, expect, oracle, chains)


@pytest.mark.exercise("roofline.fusion")
def test_single_ops_updates_in_place_and_needless_keeps(submission, expect, oracle, rng):
    """A chain of one op, of none; a tensor updated in place; names to keep that the chain does not write."""
    size, other = rng.randint(2, 1000), rng.randint(1001, 9999)
    add = Op(name="add", flops=rng.randint(1, 99), reads={"x": size, "y": other}, writes={"x": size})
    scale = Op(name="scale", flops=rng.randint(1, 99), reads={"x": size}, writes={"x": size, "norm": 4})
    use = Op(name="use", flops=rng.randint(1, 99), reads={"x": size, "norm": 4}, writes={"z": other})
    make = Op(name="make", flops=rng.randint(1, 99), reads={}, writes={"x": size})
    chains = [
        ((add,), ()),
        ((add, scale), ()),
        ((add, scale, use), ()),
        ((add, scale, use), ("x",)),
        ((make, scale), ("nobody",)),
        ((use, make), ("z",)),
        ((add, use), ("y", "z")),
        ((), ()),
    ]
    check_chains(submission, expect, oracle, chains)


@pytest.mark.exercise("roofline.fusion", weight=2)
def test_any_kernels(submission, expect, oracle, rng):
    """Kernels shorter and longer than a launch, in any order, a single one among them."""
    tick = 2.0**-20  # sums of ticks are exact, in whatever order they are taken
    cases = []
    for count in (1, 2, *(rng.randint(3, 12) for _ in range(8))):
        launch = rng.randint(8, 40)
        # By turns the host is the slower one, the device is, and neither.
        low, high = ((1, launch), (launch, 3 * launch), (1, 3 * launch))[len(cases) % 3]
        kernels = [rng.randint(low, high) * tick for _ in range(count)]
        cases.append((kernels, launch * tick, rng.randint(50, 90) * tick))
    got = [submission.roofline.launch_bound(*case) for case in cases]
    for answer, case in zip(got, cases, strict=True):
        right = oracle.roofline.launch_bound(*case)
        times = {"device_s": right.device_s, "eager_s": right.eager_s, "graph_s": right.graph_s}
        expect.terms(answer, times)
        bound = answer.get("bound") if isinstance(answer, dict) else getattr(answer, "bound", None)
        expect.that(bound is not None, "bound: it is missing; it is launch or device")
        expect.equal(bound, right.bound)
