"""Files that are damaged are told as such, whoever reads them."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import safear as sa
from doors import load_row, load_table
from lanes import scaled
from parts.people.test_counts import JOB, problem_of
from safear.errors import PersonError
from safear.people import read_population

PROBLEM = problem_of(JOB)
TEXT = b"job\n" + b"none\nfull\nfull\n" * 40
PLAIN = gzip.compress(TEXT, compresslevel=0, mtime=0)  # letters stand in it as they are
PACKED = gzip.compress(TEXT, mtime=0)
READERS: dict[str, Callable[[Path], object]] = {
    "counted": lambda path: read_population(PROBLEM, path),
    "bad rows set aside": lambda path: read_population(PROBLEM, path, skip_bad=path.with_name("bad.csv")),
    "as a table": lambda path: load_table(str(path)),
    "one row": lambda path: load_row(path, PROBLEM, row=1),
    "batch": lambda path: sa.batch(PROBLEM, decide, path, out=path.with_name("out"), objective=sa.Mean()),
}
DAMAGE = {
    "other letters": PLAIN.replace(b"none", b"nine").replace(b"nine", b"none", 1),
    "a letter that makes another level": PLAIN.replace(b"none\nfull", b"full\nnone", 1),
    "half": PACKED[: len(PACKED) // 2],
    "no end": PACKED[:-3],
    "another checksum": PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:],
    "another length": PACKED[:-4] + b"\1\0\0\0",
    "zeros inside": PACKED[:20] + bytes(20) + PACKED[40:],
    "something after it": PACKED + b"something",
    "no gzip": TEXT,
}


def decide(frame: pd.DataFrame) -> object:
    return frame["job"] == "full"


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("reader", READERS)
def test_a_packed_file_that_is_damaged(reader: str, damage: str, tmp_path: Path) -> None:
    path = tmp_path / "p.csv.gz"
    path.write_bytes(DAMAGE[damage])
    with pytest.raises(PersonError) as caught:
        READERS[reader](path)
    (told,) = caught.value.mistakes
    assert (told.place.file, told.code, told.remedy) == (str(path), "damaged", "copy it here again, or pack it again")
    assert told.cause.startswith("is damaged: ")
    assert [file.name for file in tmp_path.iterdir()] == ["p.csv.gz"]


def test_packed_files_that_are_whole(tmp_path: Path) -> None:
    """In several members, too, as when files are put together."""
    for content in (PLAIN, PACKED, gzip.compress(TEXT[:10]) + gzip.compress(TEXT[10:])):
        (tmp_path / "p.csv.gz").write_bytes(content)
        assert len(load_table(str(tmp_path / "p.csv.gz"))) == 120
        read_population(PROBLEM, tmp_path / "p.csv.gz", skip_bad=tmp_path / "bad.csv")


@pytest.mark.parametrize("packed", [PLAIN, PACKED], ids=["plain", "packed"])
def test_whatever_happens_to_a_packed_file_is_told(packed: bytes, tmp_path: Path) -> None:
    """The bytes behind the head: the head itself has a date and a name, which nobody checks."""
    rng, path, told = random.Random(0), tmp_path / "p.csv.gz", list[str]()
    for _ in range(scaled(40, least=20)):
        place = rng.randrange(10, len(packed))
        path.write_bytes(packed[:place] + bytes([packed[place] ^ (1 << rng.randrange(8))]) + packed[place + 1 :])
        try:
            found = load_table(str(path))["job"].tolist()
        except PersonError as error:
            told.append(str(error))
        else:  # a bit that fills up the last byte, and stands for nothing
            assert found == ["none", "full", "full"] * 40
    assert len(told) > scaled(40, least=20) * 0.8
    assert all(f"{path}: is damaged: " in text for text in told)


def test_whatever_happens_to_a_parquet_file_is_no_error_of_ours(tmp_path: Path) -> None:
    """Parquet files have no checksums as a rule, and DuckDB looks at none: what can be read is read."""
    path = tmp_path / "p.parquet"
    pd.DataFrame({"job": ["none", "full", "full"] * 40}).to_parquet(path)
    whole, rng, told = path.read_bytes(), random.Random(0), list[str]()
    for _ in range(scaled(60)):
        place = rng.randrange(len(whole))
        path.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << rng.randrange(8))]) + whole[place + 1 :])
        for reader in ("counted", "as a table"):
            try:
                READERS[reader](path)
            except PersonError as error:
                told.append(str(error))
    assert told
    assert not any("None" in text or text.endswith(": ") for text in told)
