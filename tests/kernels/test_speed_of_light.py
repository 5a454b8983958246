"""The bound on time follows from data sheet and counts, worked by hand here."""

import pytest

from grader.kernels.evidence import CallEvidence, CompiledLaunch, Launch, TensorTraffic
from grader.kernels.speed_of_light import shape_floor, speed_of_light
from specs import SpecError, gpu

H100 = gpu("h100-sxm")
GIB = 1 << 30


def _traffic(tensor: str, read: int = 0, written: int = 0, times: int = 1) -> TensorTraffic:
    return TensorTraffic(
        tensor=tensor,
        shape=(read + written,),
        dtype="bf16",
        read_bytes=read * times,
        unique_read_bytes=read,
        written_bytes=written,
        unique_written_bytes=written,
    )


def _launch(programs: int = 1320, **fields: object) -> Launch:
    return Launch.model_validate({"kernel": "kernel", "grid": (programs,), **fields})


def _bound(*launches: Launch, card: str = "h100-sxm", compiled: tuple[CompiledLaunch, ...] = ()):
    return speed_of_light(CallEvidence(launches=launches), gpu(card), compiled).launches


def test_a_vector_add_is_limited_by_hbm():
    """3 GB at 3.35 TB/s take 0.8955 ms."""
    traffic = (_traffic("x", read=10**9), _traffic("y", read=10**9), _traffic("out", written=10**9))
    (bound,) = _bound(_launch(tensors=traffic))
    assert bound.limited_by == "HBM"
    assert bound.time_s == pytest.approx(3e9 / 3.35e12)


def test_a_large_matmul_is_limited_by_tensor_cores():
    """2·8192³ FLOP at 989.4 TFLOP/s take 1.111 ms, its 403 MB only 0.12 ms."""
    side = 8192
    traffic = (
        _traffic("a", read=2 * side**2),
        _traffic("b", read=2 * side**2),
        _traffic("c", written=2 * side**2),
    )
    (bound,) = _bound(_launch(4096, tensors=traffic, dot_flops={"bf16": 2 * side**3}))
    assert bound.limited_by == "tensor cores"
    assert bound.time_s == pytest.approx(2 * side**3 / 989.4e12)


def test_dots_in_ieee_precision_run_on_the_fp32_lanes():
    """The same FLOPs at 66.9 in place of 494.7 TFLOP/s."""
    ieee, tf32 = (_bound(_launch(dot_flops={dtype: 10**12}))[0].tensor_s for dtype in ("fp32", "tf32"))
    assert ieee / tf32 == pytest.approx(494.7 / 66.9)


def test_a_gpu_without_tf32_multiplies_it_on_the_fp32_lanes():
    """A V100 has no tf32 rate."""
    (bound,) = _bound(_launch(dot_flops={"tf32": 10**12}), card="v100-sxm-32gb")
    assert bound.tensor_s == pytest.approx(1e12 / 15.7e12)


def test_a_dot_in_a_format_without_a_rate_is_refused_by_name():
    """An A100 has no fp8; a format that nobody knows is refused as well."""
    with pytest.raises(SpecError, match="fp8"):
        _bound(_launch(dot_flops={"fp8": 1}), card="a100-sxm-80gb")
    with pytest.raises(SpecError, match="fp7"):
        _bound(_launch(dot_flops={"fp7": 1}))


def test_exps_count_at_sixteen_a_clock_and_sm():
    """66.9 TFLOP/s are 128 lanes of 2 FLOP a clock on each SM: 16 of the special units do 66.9e12 / 16 a second."""
    (bound,) = _bound(_launch(exps=10**9))
    assert bound.limited_by == "exp"
    assert bound.exp_s == pytest.approx(1e9 / (66.9e12 / 16))


def test_an_a100_has_64_fp32_lanes_and_so_a_lower_clock():
    """19.5 TFLOP/s over 2·64 lanes: 1.41 GHz on 108 SMs, as its data sheet says."""
    exps_per_s = gpu("a100-sxm-80gb").exps_per_s
    assert exps_per_s is not None
    assert exps_per_s / (108 * 16) == pytest.approx(1.41e9, rel=1e-3)


def test_one_program_cannot_use_the_whole_gpu():
    """One program on 132 SMs has 1/132 of the peak."""
    one, many = (_bound(_launch(programs, dot_flops={"bf16": 10**9}))[0] for programs in (1, 132))
    assert one.tensor_s == pytest.approx(132 * many.tensor_s)


def test_issued_bytes_go_through_l2():
    """Reading 100 MB forty times is 4 GB at 12 TB/s, more than 0.1 GB at 3.35 TB/s."""
    (bound,) = _bound(_launch(tensors=(_traffic("x", read=10**8, times=40),)))
    assert bound.limited_by == "L2"
    assert bound.time_s == pytest.approx(4e9 / 12e12)


def test_what_an_earlier_launch_wrote_may_still_be_in_l2():
    """A temporary of 10 MB costs no HBM in the second launch; one of 1 GiB costs all that exceeds 50 MiB."""
    for size, expected in ((10 * 10**6, 0), (GIB, GIB - 50 * 2**20)):
        first = _launch(tensors=(_traffic("temporary", written=size),))
        second = _launch(tensors=(_traffic("temporary", read=size),))
        assert _bound(first, second)[1].hbm_s == pytest.approx(expected / 3.35e12)


def test_further_configs_of_an_autotuner_do_not_count():
    """Only the first config's launch is part of the call."""
    first, second = _launch(exps=5), _launch(exps=5, config_index=1, config_count=2)
    assert len(_bound(first, second)) == 1


def test_waves_and_tail_come_from_the_compile_report():
    """265 programs at 2 an SM fill 264 slots once; the second wave holds one program."""
    report = CompiledLaunch(kernel="kernel", compiles=True, blocks_per_sm=2)
    (bound,) = _bound(_launch(265), compiled=(report,))
    assert bound.waves == pytest.approx(265 / 264)
    assert bound.tail == pytest.approx(1 - 265 / 528)


def test_a_report_of_other_launches_is_not_used():
    """Where host code went another way under the compiler, its occupancy says nothing of this launch."""
    report = CompiledLaunch(kernel="another", compiles=True, blocks_per_sm=2)
    assert _bound(_launch(265), compiled=(report,))[0].waves is None


def test_the_floor_of_shapes_takes_the_larger_of_compute_and_traffic():
    """FLOPs of two formats add up; bytes overlap with them."""
    floor = shape_floor(H100, {"bf16": 989.4e12, "tf32": 494.7e12}, 3.35e12, cold=True)
    assert floor == pytest.approx(2.0)
    assert shape_floor(H100, {}, 3.35e12, cold=True) == pytest.approx(1.0)


def test_a_warm_l2_lowers_the_floor_by_what_it_holds():
    """Inputs of an earlier run may still lie in the 50 MiB of L2: an honest time may be below the cold floor."""
    warm = shape_floor(H100, {}, 100 * 2**20, cold=False)
    assert warm == pytest.approx(50 * 2**20 / 3.35e12)
    assert shape_floor(H100, {}, 2**20, cold=False) == 0
