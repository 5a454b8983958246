"""What platforms let one download: whose it is, since when, what is in it; and what must not come out of an archive."""

import io
import zipfile
from datetime import UTC, datetime

import pytest

from grader.course.downloads import FORMATS, read_archive
from grader.refusal import BadInput


def zipped(files, when=(2026, 10, 1, 12, 0, 0)):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, when), content)
    return stream.getvalue()


def read(tmp_path, format_name, files):
    path = tmp_path / "download.zip"
    path.write_bytes(zipped(files))
    found, strange = FORMATS[format_name](read_archive(path))
    return {each.name: each for each in found}, strange


def test_canvas_names_carry_the_id_lateness_and_a_count_of_resubmissions(tmp_path):
    found, strange = read(
        tmp_path,
        "canvas",
        {
            "okaforamara_1201_77_memory-2.ipynb": b"{}",
            "unalben_LATE_1202_78_state.py": b"x = 1",
            "unalben_LATE_1202_79_budget.py": b"x = 2",
            "holiday.ipynb": b"{}",
        },
    )
    assert found["okaforamara"].keys == ["1201"]
    assert list(found["okaforamara"].files) == ["memory.ipynb"]
    assert sorted(found["unalben"].files) == ["budget.py", "state.py"]
    assert found["unalben"].at == datetime(2026, 10, 1, 12, tzinfo=UTC)
    assert strange == ["holiday.ipynb: not named as Canvas does it"]


def test_gradescope_says_who_is_in_a_group_and_when_it_was_handed_in(tmp_path):
    metadata = (
        "---\nsubmission_5:\n  :submitters:\n  - :name: Amara\n    :sid: '1'\n    :email: a@x.org\n"
        "  - :name: Ben\n    :sid:\n    :email: b@x.org\n  :created_at: 2026-10-01 14:00:00.5 +02:00\n"
    )
    found, strange = read(
        tmp_path,
        "gradescope",
        {
            "assignment_1_export/submission_metadata.yml": metadata.encode(),
            "assignment_1_export/submission_5/memory/state.py": b"x = 1",
        },
    )
    (one,) = found.values()
    assert (one.keys, one.each_key_is_somebody, strange) == (["1", "b@x.org"], True, [])
    assert one.at.replace(microsecond=0) == datetime(2026, 10, 1, 12, tzinfo=UTC)
    assert list(one.files) == ["memory/state.py"]


def test_classroom_s_table_has_the_login_and_the_time(tmp_path):
    header = "assignment_name,github_username,roster_identifier,submission_timestamp"
    table = f"{header}\nm,amara-o,a17,2026-10-03T10:00:00Z\n"
    found, _ = read(
        tmp_path,
        "classroom",
        {
            "grades.csv": table.encode(),
            "memory-lab-amara-o/memory/state.py": b"",
            "memory-ben/memory/state.py": b"",
        },
    )
    assert found["amara-o"].keys == ["amara-o", "a17"]
    assert found["amara-o"].at == datetime(2026, 10, 3, 10, tzinfo=UTC)
    assert found["ben"].keys == ["ben"]


def test_an_archive_in_the_archive_is_opened_and_a_broken_one_is_said(tmp_path):
    inside = zipped({"work/state.py": b"x", "work/notes.txt": b"", "__MACOSX/._state.py": b""})
    found, strange = read(tmp_path, "folder", {"amara.zip": inside, "ben.zip": b"no zip"})
    assert list(found["amara"].files) == ["work/state.py"]
    assert strange == ["ben: ben.zip: cannot be read (BadZipFile)"]


def test_no_path_of_an_archive_leads_out_of_it(tmp_path):
    found, _ = read(
        tmp_path,
        "folder",
        {"../evil/state.py": b"x", "/abs/state.py": b"x", "amara/../../x.py": b"x", "ok/a.py": b""},
    )
    assert list(found) == ["ok"]


@pytest.mark.parametrize("name", ["missing.zip", "text.zip"])
def test_what_is_no_archive_is_one_line(tmp_path, name):
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(BadInput, match=name):
        read_archive(tmp_path / name)
