"""The meter's figures equal those counted by hand, to the byte and the FLOP, under the student's own names."""

from typing import Any

import pytest

pytest.importorskip("triton")

from tests.kernels.recorder_kernels import recorded

FP32 = 4
T, H, D, TILE = 100, 2, 32, 32
"""The attention cases: 100 rows are three whole tiles and one of 4."""


def launches(case: str) -> list[dict[str, Any]]:
    seen = recorded("meter")[case]
    assert seen["error"] is None
    assert seen["evidence"]["findings"] == []
    found: list[dict[str, Any]] = seen["evidence"]["launches"]
    return found


def traffic(case: str, launch: int = 0) -> dict[str, tuple[int, int, int, int]]:
    """By tensor: bytes read and unique, bytes written and unique."""
    keys = ("read_bytes", "unique_read_bytes", "written_bytes", "unique_written_bytes")
    return {t["tensor"]: tuple(t[key] for key in keys) for t in launches(case)[launch]["tensors"]}


def test_matmul_reads_each_operand_once_for_each_block_of_the_other() -> None:
    """130×70 times 70×40 in 64×32 blocks: a is read for 2 columns of blocks, b for 3 rows of them."""
    a, b, c = 130 * 70 * FP32, 70 * 40 * FP32, 130 * 40 * FP32
    assert traffic("matmul") == {"a": (2 * a, a, 0, 0), "b": (3 * b, b, 0, 0), "c": (0, 0, c, c)}
    assert launches("matmul")[0]["grid"] == [3, 2, 1]


@pytest.mark.parametrize(
    ("case", "dtype"),
    [("matmul", "tf32"), ("matmul ieee", "fp32"), ("matmul fp16", "fp16"), ("matmul bf16", "bf16")],
)
def test_dot_flops_count_whole_blocks_by_the_dtype_that_multiplies(case: str, dtype: str) -> None:
    """3×2 programs, 5 steps along K, 64×32×16 each."""
    assert launches(case)[0]["dot_flops"] == {dtype: 3 * 2 * 5 * 2 * 64 * 32 * 16}


@pytest.mark.parametrize("case", ["matmul fp16", "matmul bf16"])
def test_half_precision_moves_half_the_bytes(case: str) -> None:
    """The same counts, two bytes an element."""
    full = traffic("matmul")
    assert traffic(case) == {name: tuple(n // 2 for n in figures) for name, figures in full.items()}


def test_config_holds_constexprs_and_launch_options() -> None:
    """What the launch was specialised for."""
    expected = {"BM": 64, "BN": 32, "BK": 16, "PRECISION": "tf32", "num_warps": 8}
    assert launches("matmul")[0]["config"] == expected


def test_atomics_count_as_writes_and_on_their_own() -> None:
    """30×20 outputs, 5 splits of 16 along K = 70: each output is updated 5 times."""
    (launch,) = launches("split-K")
    assert traffic("split-K")["c"] == (0, 0, 5 * 30 * 20 * FP32, 30 * 20 * FP32)
    assert launch["atomics"] == 5 * 30 * 20
    assert {t["tensor"]: t["atomics"] for t in launch["tensors"]} == {"a": 0, "b": 0, "c": 5 * 30 * 20}


def test_softmax_moves_each_element_once_and_exps_count_masked_lanes() -> None:
    """5 rows of 100 in blocks of 128: lanes that are masked off move nothing, and are exponentiated all the same."""
    size = 5 * 100 * FP32
    assert traffic("softmax") == {"x": (size, size, 0, 0), "out": (0, 0, size, size)}
    assert launches("softmax")[0]["exps"] == 5 * 128


def test_functions_of_libdevice_count_by_their_whole_names() -> None:
    """isinf, isnan, logb and ldexp have sin, log and exp in their names; tanh, fast_exp and sqrt do the work."""
    assert launches("libdevice")[0]["exps"] == 3 * 64


def test_attention_reads_keys_once_for_each_tile_of_queries() -> None:
    """Four tiles of queries read all of k and v each."""
    size, lse = T * H * D * FP32, T * H * FP32
    assert traffic("attention") == {
        "q": (size, size, 0, 0),
        "k": (4 * size, size, 0, 0),
        "v": (4 * size, size, 0, 0),
        "o": (0, 0, size, size),
        "lse": (0, 0, lse, lse),
    }


def test_attention_flops_and_exps_count_every_tile_pair() -> None:
    """4×4 pairs of tiles for each head: two dots, TILE² + TILE exps; one log a row of queries at the end."""
    (launch,) = launches("attention")
    assert launch["dot_flops"] == {"tf32": H * 16 * 4 * TILE * TILE * D}
    assert launch["exps"] == H * (16 * (TILE * TILE + TILE) + 4 * TILE)


def test_causal_attention_skips_the_tiles_above_the_diagonal() -> None:
    """1 + 2 + 3 + 4 pairs; tile i reads the keys up to its own end, and 100 rows end inside the last."""
    (launch,) = launches("attention causal")
    rows = 32 + 64 + 96 + 100
    size = T * H * D * FP32
    assert traffic("attention causal")["k"] == (rows * H * D * FP32, size, 0, 0)
    assert launch["dot_flops"] == {"tf32": H * 10 * 4 * TILE * TILE * D}
    assert launch["exps"] == H * (10 * (TILE * TILE + TILE) + 4 * TILE)


def test_bf16_attention_counts_bf16_flops() -> None:
    """Operands as the device multiplies them, though the emulation widens them."""
    assert launches("attention bf16")[0]["dot_flops"] == {"bf16": H * 16 * 4 * TILE * TILE * D}


def test_interleaved_views_of_one_storage_are_told_apart() -> None:
    """q, k and v of a packed qkv lie inside each other's address ranges and count as if they were apart."""
    packed, apart = traffic("attention packed"), traffic("attention")
    assert packed == apart
    assert {t["tensor"]: t["parameter"] for t in launches("attention packed")[0]["tensors"]}["k"] == "k_ptr"


def test_block_pointers_and_descriptors_count_what_lies_inside() -> None:
    """40 rows of 48 in blocks of 16×64."""
    size = 40 * 48 * FP32
    assert traffic("block copy") == {"src": (size, size, 0, 0), "dst": (0, 0, size, size)}


def test_each_autotuned_config_is_a_launch_of_its_own() -> None:
    """Index and count tell them apart; each has its own grid and options."""
    first, second = launches("autotuned")
    assert [(x["config_index"], x["config_count"]) for x in (first, second)] == [(0, 2), (1, 2)]
    assert (first["grid"], second["grid"]) == ([4, 1, 1], [2, 1, 1])
    assert (first["config"]["BLOCK"], second["config"]["BLOCK"], second["config"]["num_warps"]) == (32, 64, 2)


def test_one_tensor_under_two_parameters_is_counted_for_each() -> None:
    """x + x loads x twice; the parameter tells which."""
    tensors = launches("one tensor, two names")[0]["tensors"]
    assert [(t["tensor"], t["parameter"], t["read_bytes"]) for t in tensors[:2]] == [
        ("x", "x_ptr", 400),
        ("x", "y_ptr", 400),
    ]


def test_tensors_have_the_names_of_the_called_function() -> None:
    """A reshaped view under another name further in is still what the caller's parameter says."""
    assert list(traffic("other names")) == ["first", "second", "out"]


def test_missing_tensors_and_one_element_tensors_are_fine() -> None:
    """None is no tensor; a scalar load of the bias happens in each of 4 programs."""
    assert list(traffic("no bias")) == ["src", "dst"]
    assert traffic("bias")["bias"] == (4 * FP32, FP32, 0, 0)


@pytest.mark.parametrize(("case", "size"), [("int64", 8), ("bool", 1)])
def test_integers_and_booleans_count_their_own_bytes(case: str, size: int) -> None:
    """100 elements each way."""
    assert traffic(case) == {"src": (100 * size, 100 * size, 0, 0), "dst": (0, 0, 100 * size, 100 * size)}


def test_an_empty_grid_is_a_launch_that_moves_nothing() -> None:
    """No element, no program, no fault."""
    (launch,) = launches("nothing to do")
    assert launch["grid"] == [0, 1, 1]
    assert all(t["read_bytes"] == t["written_bytes"] == 0 for t in launch["tensors"])


def test_pointers_that_were_loaded_from_memory_find_their_tensor() -> None:
    """A table of addresses: the loads through it belong to the tensors that lie there."""
    seen = traffic("addresses")
    assert (seen["first"], seen["second"]) == ((80, 80, 0, 0), (80, 80, 0, 0))


def test_forward_and_backward_of_an_autograd_function_are_launches() -> None:
    """The backward runs in a frame of its own, called by PyTorch, and its tensors have names there."""
    assert [list(traffic("autograd", at)) for at in (0, 1)][1] == ["upstream", "gradient"]
    assert [t["tensor"] for t in launches("autograd")[0]["tensors"]] == ["x", "twice", "x"]


def test_recording_replaces_nothing_that_it_watches() -> None:
    """`changed` stays False through all of it."""
    assert not any(case["changed"] for case in recorded("meter").values())
