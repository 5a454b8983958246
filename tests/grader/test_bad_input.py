"""Bad input to every command: one clear line on stderr beginning with `grader:`, a non-zero exit."""

import io
import sys
import zipfile

import pytest

from grader import cli
from grader.cli import main


@pytest.fixture
def places(tmp_path):
    """Folders and files that are wrong, by name."""
    (tmp_path / "empty").mkdir()
    for side in ("a", "b"):
        (tmp_path / "ambiguous" / side / "memory").mkdir(parents=True)
        (tmp_path / "ambiguous" / side / "memory" / "state.py").write_text("")
    (tmp_path / "cut.zip").write_bytes(b"PK\x03\x04 not much of a zip")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    (tmp_path / "file").write_text("a file")
    return tmp_path


REFUSED = {
    "nonsense": "no such command 'nonsense'; grader --help shows how it goes",
    "--nonsense": "no such option: --nonsense",
    "grade": "missing argument",
    "grade assignments": "missing option '--out'; grader grade --help",
    "grade assignments --out @/o --nonsense": "no such option: --nonsense",
    "grade assignments --out @/o --jobs many": "invalid value for '--jobs'",
    "grade assignments --out @/o --jobs 0": "invalid value for '--jobs'",
    "grade @/none --out @/o --isolation process": "/none: no such file or folder",
    "grade assignments --out @/file --isolation process": "/file: is a file, name a folder",
    "grade assignments --out @/o --only memory.nope": "memory.nope: no such exercise, choose one of",
    "grade assignments --out @/o --only nope": "exercise 'nope': no such exercise; nearest are ",
    "grade assignments --out @/o --only nope.nope": "'nope': no such assignment, choose one of memory",
    "grade assignments --out @/o --isolation none": "no such level, choose one of sandbox, user, process",
    "grade assignments --out @/o --isolation process --seed-file @/file": "/file: cannot be used as seed",
    "grade assignments --out @/o --solutions @/none": "/none: no such folder",
    "grade assignments --out @/o --solutions @/empty": "/empty: not the solutions, memory/state.py and",
    "verify --solutions @/none": "/none: no such folder",
    "verify --solutions @/empty": "/empty: not the solutions",
    "verify --only nope": "exercise 'nope': no such exercise",
    "verify extra": "unexpected extra argument",
    "stubs --solutions @/empty": "/empty: not the solutions",
    "hint": "missing argument 'EXERCISE'; grader hint --help",
    "hint nope": "; a table in assignments/NAME/README.md has all",
    "hint memory.parameter_cout": "no such exercise, did you mean memory.parameter_count?",
    "hint Parameter_Counts": "no such exercise, did you mean memory.parameter_count?",
    "hint memry.checkpoint": "no such exercise, did you mean memory.checkpoint?",
    "hint roofline": "'roofline': that is an assignment; name an exercise of it, such as roofline.matmul_costs",
    "hint memory.": "exercise memory.: no such exercise",
    "next --track fast": "--track fast: no such track, choose core or full",
    "next nope": "assignment 'nope': not here, choose one of memory, roofline",
    "next --submission @/none": "/none: no such folder",
    "next --submission @/empty": "/empty: holds no <assignment>/<file>, such as memory/state.py",
    "doctor --nonsense": "no such option: --nonsense",
    "release": "missing argument 'DIR'",
    "release @/file": "/file: is not empty",
    "release @": ": is not empty",
    "release @/o --solutions @/none": "/none: no such folder",
}


@pytest.mark.parametrize("words", REFUSED)
def test_is_refused_in_one_line(words, places, checkout, monkeypatch, capsys):
    monkeypatch.chdir(checkout.folder)
    monkeypatch.setattr(sys, "argv", ["grader", *words.replace("@", str(places)).split()])
    with pytest.raises(SystemExit) as exit_:
        main()
    out, err = capsys.readouterr()
    assert exit_.value.code == 2
    assert len(err.splitlines()) == 1, err
    assert err.startswith("grader: ")
    assert REFUSED[words] in err
    assert out == ""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("empty", "found in"),
        ("empty.zip", "found in"),
        ("cut.zip", "not a readable zip"),
        ("file", "/file"),
        ("ambiguous", "holds 2 submissions, not one (a, b)"),
    ],
)
def test_a_submission_that_cannot_be_graded_is_one_line_and_exit_3(
    name, said, places, checkout, monkeypatch, capsys
):
    monkeypatch.chdir(checkout.folder)
    arguments = ["grade", str(places / name), "--out", str(places / "o"), "--isolation", "process"]
    monkeypatch.setattr(sys, "argv", ["grader", *arguments, "--seed-file", str(places / "seed")])
    with pytest.raises(SystemExit) as exit_:
        main()
    out, err = capsys.readouterr()
    assert exit_.value.code == 3
    assert len(err.splitlines()) == 1, err
    assert said in err
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    ("file", "find", "replace", "commands"),
    [
        (
            "specs/assignments/memory.yaml",
            "minutes: 5",
            "minutes: soon",
            ("hint memory.checkpoint", "next", "verify", "release out", "GRADE"),
        ),
        ("specs/assignments/memory.yaml", "exercises:", "exercises: ]", ("hint memory.checkpoint", "doctor")),
        ("specs/recipes.yaml", "master:", "masters:", ("next", "verify", "release out", "GRADE")),
    ],
)
def test_a_broken_yaml_is_named_with_its_file_and_field(kit_copy, file, find, replace, commands):
    path = kit_copy.folder / file
    text = path.read_text()
    assert find in text
    path.write_text(text.replace(find, replace, 1))
    for command in commands:
        words = command.replace("GRADE", "grade assignments --out o --isolation process").split()
        done = kit_copy.grader(*words)
        assert done.code == 2, (command, done.text)
        assert len(done.err.splitlines()) == 1, (command, done.err)
        assert done.err.startswith("grader: "), command
        assert file in done.err, command


def test_outside_of_any_kit_the_package_s_own_is_used_or_the_place_is_named(bundle, tmp_path):
    elsewhere = type(bundle)(tmp_path, bundle.python)
    assert elsewhere.grader("hint", "memory.checkpoint", "--again").code == 0
    (bundle.folder / "assignments").rename(bundle.folder / "gone")
    try:
        done = elsewhere.grader("next")
    finally:
        (bundle.folder / "gone").rename(bundle.folder / "assignments")
    assert done.code == 2
    assert "no assignments/ here or above, run this inside the kit's folder" in done.err


def test_no_word_at_all_shows_the_help(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["grader"])
    with pytest.raises(SystemExit) as exit_:
        main()
    out, err = capsys.readouterr()
    assert (exit_.value.code, err) == (0, "")
    for command in ("grade", "verify", "stubs", "hint", "next", "doctor", "release"):
        assert f"  {command} " in out


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted; run the same command again to go on"),
        (PermissionError(13, "Permission denied", "a\x1b[2Jb"), 2, "grader: ab: Permission denied"),
    ],
)
def test_an_interruption_and_a_refusal_of_the_system_are_one_line(monkeypatch, capsys, raised, code, said):
    def fail() -> None:
        raise raised

    monkeypatch.setattr(cli, "find_kit", fail)
    monkeypatch.setattr(sys, "argv", ["grader", "next"])
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with pytest.raises(SystemExit) as exit_:
        main()
    err = capsys.readouterr().err
    assert exit_.value.code == code
    assert said in err
    assert len(err.strip().splitlines()) == 1
