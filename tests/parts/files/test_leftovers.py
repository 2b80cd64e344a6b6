"""What killed processes leave is removed by the next, and what living ones work on is not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from accounts import NOBODY, only_root
from safear.errors import InputError
from safear.files import is_leftover, remove_leftovers, require_folder, scratch_folder, write_text

BESIDE = """
import sys
from pathlib import Path
from safear.files import write_pieces

def wait():
    yield b"half"
    print("begun", flush=True)
    sys.stdin.read()

write_pieces(Path("a.txt"), wait())
"""
SCRATCH = """
import sys
from safear.files import scratch_folder

with scratch_folder() as folder:
    (folder / "duckdb_temp_storage-0.tmp").write_bytes(b"half")
    print(folder, flush=True)
    sys.stdin.read()
"""
AGAIN = "from safear.files import scratch_folder\nwith scratch_folder(): pass"


def names(folder: str | Path) -> list[str]:
    """What is in a folder."""
    return sorted(path.name for path in Path(folder).iterdir())


@contextmanager
def begun(program: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A program that says a line once it works, and waits until its input ends; it is dead afterwards."""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_a_file_that_is_being_made_is_left_alone_until_its_process_is_dead(tmp_path: Path) -> None:
    with begun(BESIDE, tmp_path):
        (name,) = names(tmp_path)
        assert is_leftover(name)
        remove_leftovers(tmp_path)
        assert names(tmp_path) == [name]
    assert names(tmp_path) == [name]
    remove_leftovers(tmp_path)
    assert names(tmp_path) == []


def test_whoever_writes_next_removes_it(tmp_path: Path) -> None:
    with begun(BESIDE, tmp_path):
        pass
    keep = [".safear-notes.tmp", ".safear-0123456789abcdef.tmp.txt", "._notes"]
    for name in keep:
        (tmp_path / name).touch()
    write_text(tmp_path / "b.txt", "text")
    assert names(tmp_path) == sorted([*keep, "b.txt"])


def test_whoever_makes_a_folder_removes_what_was_left_beside_it(tmp_path: Path) -> None:
    """Whether it can be made was tried where it shall be."""
    left = tmp_path / f".safear-{'0' * 16}.tmp"
    left.touch()
    require_folder(tmp_path / "out")
    assert not left.exists()


def test_a_process_that_goes_on_gets_its_file(tmp_path: Path) -> None:
    with begun(BESIDE, tmp_path) as (process, _):
        remove_leftovers(tmp_path)
        process.communicate("", timeout=60)
    assert process.returncode == 0
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {"a.txt": "half"}


def test_scratch_folders_of_the_dead_are_removed_by_the_next(tmp_path: Path) -> None:
    with begun(SCRATCH, tmp_path) as (alive, its):
        with begun(SCRATCH, tmp_path) as (_, left):
            assert {path.name for path in tmp_path.iterdir()} == {Path(its).name, Path(left).name}
        (tmp_path / "safear-scratch-mine").mkdir()
        (tmp_path / "safear-scratch-mine" / "thesis.txt").touch()  # nobody but us makes such names, and yet
        with begun(AGAIN, tmp_path) as (following, _):
            following.communicate(timeout=60)
        assert following.returncode == 0
        assert {path.name for path in tmp_path.iterdir()} == {Path(its).name, "safear-scratch-mine"}
        assert names(its) == ["duckdb_temp_storage-0.tmp"]
        alive.communicate("", timeout=60)
    assert [path.name for path in tmp_path.iterdir()] == ["safear-scratch-mine"]


def test_nobody_else_can_look_into_a_scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with scratch_folder() as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o077 == 0
        (folder / "made").touch()
    assert names(tmp_path) == []


@only_root
def test_scratch_folders_of_others_are_left_to_them(tmp_path: Path) -> None:
    """Somebody else could put a link in its place while it is emptied."""
    folder = tmp_path / "safear-scratch-theirs"
    folder.mkdir()
    (folder / "made").touch()
    os.chown(folder, NOBODY, NOBODY)
    with begun(AGAIN, tmp_path) as (process, _):
        process.communicate(timeout=60)
    assert names(folder) == ["made"]


def test_a_folder_that_becomes_a_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "made").touch()
    with scratch_folder() as folder:
        (folder / "made").touch()
        folder.rename(tmp_path / "moved")
        folder.symlink_to(tmp_path / "other")
    assert names(tmp_path / "other") == ["made"]
    assert names(tmp_path / "moved") == []


def test_no_room_for_temporary_files_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    told = f"{tmp_path}/none: no temporary files can be written: No such file or directory\n    set TMPDIR to a folder"
    with pytest.raises(InputError, match=re.escape(told)), scratch_folder():
        pass


OURS = """
import tempfile
from safear.files.leftovers import temporary_folder
tempfile._get_default_tempdir = None  # which tries places with a file that a kill would leave there
print(temporary_folder())
"""
THEIRS = "import tempfile; print(tempfile.gettempdir())"


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without names are Linux's")
@pytest.mark.parametrize("name", ["TMPDIR", "TEMP", "TMP"])
def test_the_place_for_temporary_files_is_found_without_a_file_there(name: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for place in (tmp_path / "mine", "mine", tmp_path / "none"):
        env = {**os.environ, "TMPDIR": "", "TEMP": "", "TMP": "", name: str(place)}
        ours, theirs = (
            subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, stdout=subprocess.PIPE, check=True)
            for program in (OURS, THEIRS)
        )
        assert ours.stdout == theirs.stdout
