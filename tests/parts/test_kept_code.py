"""Compiled code on disk: what is loaded is what was saved, whole and up to date, or nothing."""

from __future__ import annotations

import logging
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from doors import KeptCode, Shelf, code_shelves, kept_code, stamp_source

KEY = (("array(float64, 1d, C)",), ("x86_64", "znver3"), ("code", ""))
ANOTHER = (("int64",), *KEY[1:])
DATA = {"machine code": bytes(range(256))}


@pytest.fixture
def shelves(tmp_path: Path) -> list[Shelf]:
    return [Shelf(tmp_path / "one"), Shelf(tmp_path / "two", is_private=True)]


def keep(shelves: list[Shelf], *, is_from: bytes = b"sources") -> KeptCode:
    return KeptCode(Path("/a/kernels.py"), "kernels.f", is_from=is_from, shelves=shelves, dump=pickle.dumps)


def files(shelf: Shelf) -> list[Path]:
    return list(shelf.folder.iterdir())


def test_what_is_saved_is_loaded(shelves: list[Shelf]) -> None:
    kept = keep(shelves)
    assert kept.load(KEY) is None
    kept.save(KEY, DATA)
    kept.save(ANOTHER, "other")
    assert (keep(shelves).load(KEY), keep(shelves).load(ANOTHER)) == (DATA, "other")
    assert len(files(shelves[0])) == 2
    kept.flush()
    assert (kept.load(KEY), files(shelves[0])) == (None, [])


def test_code_from_other_sources_is_not_loaded_but_replaced(shelves: list[Shelf]) -> None:
    keep(shelves).save(KEY, DATA)
    newer = keep(shelves, is_from=b"newer sources")
    assert newer.load(KEY) is None
    newer.save(KEY, "newer")
    assert (newer.load(KEY), keep(shelves).load(KEY)) == ("newer", None)
    assert len(files(shelves[0])) == 1


def test_other_code_under_the_same_name_is_not_taken_for_it(shelves: list[Shelf]) -> None:
    kept = keep(shelves)
    kept.save(KEY, DATA)
    assert kept.load((*KEY[:2], ("other code", ""))) is None


class Tripwire:
    """Says so if somebody unpickles it."""

    was_touched = False

    def __reduce__(self) -> tuple[Any, ...]:
        return (Tripwire.touch, ())

    @staticmethod
    def touch() -> None:
        Tripwire.was_touched = True


def test_what_is_damaged_is_not_even_unpickled(shelves: list[Shelf]) -> None:
    kept = keep(shelves)
    kept.save(KEY, Tripwire())
    (path,) = files(shelves[0])
    good = path.read_bytes()
    damaged = [good[:position] + bytes([good[position] ^ 1]) + good[position + 1 :] for position in range(len(good))]
    damaged += [b"", good[:-1], good[:40], good[:32], good + b"\0", bytes(len(good)), b"nonsense", pickle.dumps(DATA)]
    for content in damaged:
        path.write_bytes(content)
        assert kept.load(KEY) is None
    assert not Tripwire.was_touched
    path.write_bytes(good)
    kept.load(KEY)
    assert Tripwire.was_touched


class Gone:
    """A class that is renamed later."""


def test_a_class_that_is_gone(shelves: list[Shelf], monkeypatch: pytest.MonkeyPatch) -> None:
    kept = keep(shelves)
    key = ((Gone, "float64"), *KEY[1:])
    kept.save(key, DATA)
    assert kept.load(key) == DATA
    monkeypatch.delattr(sys.modules[Gone.__module__], "Gone")
    assert kept.load(key) is None


def test_the_next_folder_serves_if_the_first_cannot(shelves: list[Shelf], tmp_path: Path) -> None:
    (tmp_path / "one").write_text("in the way")
    kept = keep(shelves)
    kept.save(KEY, DATA)
    assert kept.load(KEY) == DATA
    assert len(files(shelves[1])) == 1
    shelves[1].folder.chmod(0o755)
    if os.name == "posix":
        assert kept.load(KEY) is None
    keep(shelves[:1]).save(KEY, DATA)  # nobody takes it: nothing happens


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The folders that were listed."""
    found: list[object] = []
    real = os.listdir

    def listdir(path: Any) -> list[str]:
        found.append(path)
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    return found


def test_whether_there_is_any_for_this_machine(shelves: list[Shelf], listed: list[object]) -> None:
    """Looks into folders only when something has come or gone there, however often it is asked."""
    kept, machine = keep(shelves), KEY[1]
    assert not any(kept.is_there(machine) for _ in range(100))
    assert len(listed) == 2
    keep(shelves).save((KEY[0], ("arm64",), KEY[2]), DATA)
    assert not any(kept.is_there(machine) for _ in range(100))
    keep(shelves, is_from=b"other sources").save(KEY, DATA)
    assert not any(kept.is_there(machine) for _ in range(100))
    keep(shelves).save(KEY, DATA)
    assert all(kept.is_there(machine) for _ in range(100))
    assert len(listed) == 8 + 1  # whoever writes to a folder for the first time looks for what was left there
    kept.flush()
    assert not kept.is_there(machine)


def test_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("SAFEAR_CACHE", str(tmp_path / "user"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    beside, user, temporary = code_shelves(tmp_path / "kernels.py")
    source = tmp_path / "kernels.py"
    assert beside == Shelf(tmp_path / "__pycache__", for_code=source)
    assert user == Shelf(tmp_path / "user" / "compiled", is_private=True)
    assert (temporary.folder.parent, temporary.is_private) == (tmp_path / "temporary", True)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "chosen"))
    assert code_shelves(tmp_path / "kernels.py") == [Shelf(tmp_path / "chosen", for_code=source)]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Three modules, of which one is compiled with what the others say."""
    (tmp_path / "mdp").mkdir()
    (tmp_path / "outer_kernels.py").write_text("from safear.mdp.inner_kernels import f\n")
    (tmp_path / "mdp" / "inner_kernels.py").write_text("from safear.types import T\ndef f(): ...\n")
    (tmp_path / "types.py").write_text("from safear.other import x\nT = 1\n")
    monkeypatch.setattr(kept_code, "PACKAGE", tmp_path)
    yield tmp_path
    stamp_source.cache_clear()


@pytest.mark.parametrize("changed", ["outer_kernels.py", "mdp/inner_kernels.py", "types.py"])
def test_code_is_stale_when_anything_that_it_holds_is(package: Path, changed: str) -> None:
    """Numba looks at the file of the function alone."""
    outer = package / "outer_kernels.py"
    before = stamp_source(outer)
    stamp_source.cache_clear()
    assert stamp_source(outer) == before
    (package / changed).write_text((package / changed).read_text() + "# changed\n")
    stamp_source.cache_clear()
    assert stamp_source(outer) != before


def test_kernels_import_nothing_that_a_stamp_overlooks() -> None:
    root = Path(kept_code.__file__).parent
    kernels = sorted(root.rglob("*_kernels.py"))
    assert len(kernels) > 10
    for path in kernels:
        text = path.read_text(encoding="utf-8")
        named = text.count("safear.") - text.count("`safear.")
        assert len(kept_code.IMPORTED.findall(text)) == named, path
        assert len(stamp_source(path)) == kept_code.SUM


def test_one_line_says_where_it_is(
    shelves: list[Shelf], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(kept_code._Told, "about", set())
    with caplog.at_level(logging.INFO, logger="safear"):
        for _ in range(3):
            keep(shelves).save(KEY, DATA)
            keep(shelves).load(KEY)
            keep([]).save(KEY, DATA)
    assert caplog.messages == [
        f"compiled code is kept in {shelves[0].folder}",
        "compiled code is not kept: no folder takes it",
    ]
