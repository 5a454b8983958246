"""Published values: all there, each with a source, and consistent with what its formula gives."""

from pathlib import Path

import pytest

from specs import SpecError
from specs.published import (
    PUBLISHED_FOLDER,
    PublishedValue,
    Tolerance,
    load_published,
    published,
    published_value,
)

ONE = """
- id: a.b
  topic: params
  quantity: all parameters
  expected: 100
  unit: params
  tolerance: {abs: 0}
  recomputed: 100
  source: a paper
  source_status: read
  use: exact
"""


def test_every_topic_has_all_its_values() -> None:
    counts = {path.stem: len(load_published(path)) for path in PUBLISHED_FOLDER.glob("*.yaml")}
    memory = {"params": 56, "state": 25, "zero": 53, "activation": 15, "kv": 12, "units": 9}
    later = {"roofline": 21, "mfu": 58, "flops": 37, "flash_attention": 6, "comm": 32, "parallel": 20}
    trace = {"trace": 20}
    assert counts == memory | later | trace
    assert len(published()) == sum(counts.values())


def test_ids_are_unique_over_all_topics() -> None:
    assert len({value.id for value in published()}) == len(published())
    assert len(set(published())) == len(published())


def test_a_topic_gives_only_its_own_values() -> None:
    assert {value.topic for value in published("kv")} == {"kv"}


def test_what_is_graded_on_is_what_its_formula_gives() -> None:
    wrong = [
        value.id for value in published() if value.use == "exact" and not value.accepts(value.recomputed)
    ]
    assert wrong == []


def test_a_value_that_its_formula_does_not_give_is_a_trap_and_says_why() -> None:
    off = [value for value in published() if not value.accepts(value.recomputed)]
    assert {value.use for value in off} == {"trap"}
    assert [value.id for value in published() if value.use == "trap" and not value.note] == []


def test_no_source_points_into_somebodys_folder() -> None:
    for value in published():
        assert value.source
        assert "stored" not in value.source, value.id
        assert not value.source.startswith("/"), value.id


def test_tolerances_are_in_the_unit_or_a_share_of_the_value() -> None:
    exact = published_value("params.gpt2-small")
    assert exact.accepts(124_439_808)
    assert not exact.accepts(124_439_809)
    share = published_value("params.gpt3-175B")
    assert share.accepts(174_600 * 1.004)
    assert not share.accepts(174_600 * 1.006)


def test_an_unknown_id_lists_ids_that_come_close() -> None:
    with pytest.raises(
        SpecError, match=r"^no published value 'params\.gpt2': did you mean .*params\.gpt2-xl"
    ):
        published_value("params.gpt2")


def test_an_unknown_topic_lists_topics() -> None:
    with pytest.raises(SpecError, match=r"^no topic 'param': did you mean params, parallel\?"):
        published("param")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("topic: params", "topic: kv", r"a\.b: topic is 'kv', expected 'params'"),
        ("expected: 100", "expected: many", r"0\.expected"),
        ("{abs: 0}", "{abs: 0, rel: 0.1}", r"0\.tolerance: give abs or rel, and only one of them"),
        ("{abs: 0}", "{}", r"0\.tolerance: give abs or rel, and only one of them"),
        ("source: a paper", "source: ''", r"0\.source"),
        ("use: exact", "use: maybe", r"0\.use"),
        ("unit: params", "units: params", r"0\.unit: field required"),
        (ONE, ONE + ONE, r"a\.b: this id is there twice"),
    ],
)
def test_a_wrong_file_names_file_field_and_problem(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in ONE
    (tmp_path / "params.yaml").write_text(ONE.replace(old, new, 1))
    with pytest.raises(SpecError, match=rf"params\.yaml: {message}"):
        load_published(tmp_path / "params.yaml")


def test_zero_is_an_exact_tolerance() -> None:
    assert Tolerance(abs=0).abs == 0
    value = PublishedValue.model_validate(published_value("kv.deepseek-v3-mla").model_dump())
    assert value == published_value("kv.deepseek-v3-mla")
