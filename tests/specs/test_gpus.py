"""GPUs: what survives the seed's 7B training, how each figure is known, and what a wrong file says."""

from pathlib import Path

import pytest

from specs import Gpu, SpecError, gpu, gpus, load_gpus
from specs.gpu import GPUS_FILE, estimated_memory_bytes, gpu_of_device
from specs.published import published, published_value

# The bill of the seed's figure 1: 7B, AdamW mixed precision, sequence 2048, batch 1.
SEED_BILL_BYTES = 144.5e9

ONE = """
- name: one
  dense_tflops: {bf16: 100, fp16: 100}
  memory_label_gb: 80
  memory_bytes: 84990623744
  memory_bytes_status: read
  hbm_gb_per_s: 2039
"""


def test_at_least_14_gpus_are_shipped_and_every_one_names_its_sources() -> None:
    assert len(gpus()) >= 14
    assert [each.name for each in gpus() if not each.sources] == []


def test_the_seeds_training_survives_on_an_h200_and_larger_and_on_no_card_of_80_gb_or_less() -> None:
    survivors = {each.name for each in gpus() if each.memory_bytes >= SEED_BILL_BYTES}
    assert "h200-sxm" in survivors
    assert survivors == {each.name for each in gpus() if each.memory_label_gb >= 141}
    assert not {each.name for each in gpus() if each.memory_label_gb <= 80} & survivors
    assert 1.6 < SEED_BILL_BYTES / gpu("h100-sxm").memory_bytes < 2.0


def test_memory_that_was_read_is_the_published_reading() -> None:
    readings = {value.inputs.get("bytes") for value in published("units")}
    read = [each for each in gpus() if each.memory_bytes_status == "read"]
    assert len(read) >= 4
    assert [each.name for each in read if each.memory_bytes not in readings] == []


def test_memory_that_is_estimated_follows_the_stated_rule() -> None:
    estimated = [each for each in gpus() if each.memory_bytes_status == "estimated"]
    assert estimated
    for each in estimated:
        assert each.memory_bytes == estimated_memory_bytes(each.memory_label_gb), each.name


def test_the_estimate_is_no_larger_than_what_was_read_but_for_a_thousandth() -> None:
    for each in gpus():
        if each.memory_bytes_status == "read":
            assert estimated_memory_bytes(each.memory_label_gb) <= each.memory_bytes * 1.001, each.name


def test_a_program_sees_less_of_an_h200_than_nvidia_smi_prints() -> None:
    printed_gb = published_value("hw.mem.H200").expected
    assert 140e9 < gpu("h200-sxm").memory_bytes < printed_gb * 1e9


def test_rates_are_dense() -> None:
    assert gpu("h100-sxm").peak_flops("bf16") == pytest.approx(989.4e12)
    assert gpu("h100-sxm").peak_flops("fp8") == pytest.approx(2 * 989.4e12, rel=1e-3)
    assert gpu("a100-sxm-80gb").peak_flops("bf16") == 312e12
    for each in gpus():
        for narrow, wide in (("fp8", "bf16"), ("fp16", "fp32"), ("bf16", "tf32")):
            if narrow in each.dense_tflops and wide in each.dense_tflops:
                assert each.dense_tflops[narrow] >= each.dense_tflops[wide], (each.name, narrow)


def test_links_are_one_direction_and_in_bytes() -> None:
    h100 = gpu("h100-sxm")
    assert h100.nvlink_bytes_per_s == 450e9
    assert h100.pcie_bytes_per_s == 63e9
    assert h100.hbm_bytes_per_s == 3.35e12
    assert gpu("l4").nvlink_bytes_per_s is None


def test_sizes_on_the_chip_are_in_bytes() -> None:
    h100 = gpu("h100-sxm")
    assert (h100.smem_bytes_per_sm, h100.smem_bytes_per_block, h100.l2_bytes) == (
        228 << 10,
        227 << 10,
        50 << 20,
    )
    bare = Gpu(
        name="bare",
        dense_tflops={"bf16": 1},
        memory_label_gb=8,
        memory_bytes=8 * 10**9,
        memory_bytes_status="estimated",
        hbm_gb_per_s=1,
    )
    assert (bare.smem_bytes_per_sm, bare.smem_bytes_per_block, bare.l2_bytes) == (None, None, None)
    assert (bare.nvlink_bytes_per_s, bare.pcie_bytes_per_s) == (None, None)


def test_a_rate_that_a_card_lacks_is_an_error_that_lists_those_it_has() -> None:
    with pytest.raises(SpecError, match=r"^a100-sxm-80gb has no fp8 rate: it has bf16, fp16"):
        gpu("a100-sxm-80gb").peak_flops("fp8")
    with pytest.raises(SpecError, match=r"^t4 has no bf16 rate"):
        gpu("t4").peak_flops("bf16")


def test_a_drivers_name_means_one_gpu_or_none() -> None:
    """An unknown card gets no sheet rather than that of a card whose name begins alike."""
    assert gpu_of_device("NVIDIA H100 80GB HBM3") == gpu("h100-sxm")
    assert gpu_of_device("NVIDIA H200") == gpu("h200-sxm")
    assert gpu_of_device("NVIDIA H200 NVL") is None
    for each in gpus():
        assert all(gpu_of_device(name) == each for name in each.device_names)


@pytest.mark.parametrize(
    ("asked", "suggested"), [("h100", "h100-sxm"), ("RTX4090", "rtx-4090"), ("tpu", "known are")]
)
def test_an_unknown_gpu_lists_names_that_come_close(asked: str, suggested: str) -> None:
    with pytest.raises(SpecError, match=rf"^no gpu '{asked}': .*{suggested}"):
        gpu(asked)


def test_a_gpu_goes_into_sets_and_survives_plain_data() -> None:
    assert len(set(gpus())) == len(gpus())
    for each in gpus():
        assert Gpu.model_validate(each.model_dump()) == each


def test_every_recalled_field_is_a_field_that_is_given() -> None:
    for each in gpus():
        for field in each.recalled:
            name, _, key = field.partition(".")
            assert getattr(each, name) is not None, (each.name, field)
            assert not key or key in each.dense_tflops, (each.name, field)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bf16: 100", "bf16: -1", r"0\.dense_tflops\.bf16: input should be greater than 0, got -1"),
        ("bf16: 100", "bf61: 100", r"0\.dense_tflops\.bf61"),
        ("hbm_gb_per_s: 2039", "hbm: 2039", r"0\.hbm_gb_per_s: field required"),
        ("84990623744", "0", r"0\.memory_bytes: input should be greater than 0"),
        ("84990623744", "94990623744", r"exceeds memory_label_gb = 80 GiB"),
        (
            "status: read",
            "status: seen",
            r"0\.memory_bytes_status: input should be 'read', 'quoted' or 'estimated'",
        ),
        ("status: read", "status: read\n  recalled: [tdp]", r"recalled: 'tdp' is no field of a GPU"),
        ("name: one", "name: [", r"line \d+: not valid YAML"),
        (ONE, ONE + ONE, r"'one' is there 2 times"),
        (
            ONE,
            (ONE + ONE.replace("one", "two")).replace("  dense", "  device_names: [Card]\n  dense"),
            r"device_names: 'Card' means 2 GPUs",
        ),
        (ONE, "one: 1", r"the whole document: input should be a valid tuple"),
    ],
)
def test_a_wrong_file_names_file_field_and_problem(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in ONE
    (tmp_path / "gpus.yaml").write_text(ONE.replace(old, new, 1))
    with pytest.raises(SpecError, match=rf"gpus\.yaml.*{message}") as caught:
        load_gpus(tmp_path / "gpus.yaml")
    assert "\n" not in str(caught.value)


def test_the_shipped_file_is_the_one_that_is_loaded() -> None:
    assert load_gpus(GPUS_FILE) == gpus()
