"""What comes in and goes out: forms, JSON, uploads and downloads; and the slider's stops."""

from __future__ import annotations

import time
from itertools import pairwise

import httpx
import pandas as pd
import pytest

import safear as sa
from doors import (
    defuse,
    find_stops,
    neighbours,
    read_form,
    read_json,
    read_record,
    read_terms,
    read_upload,
    stop_at,
    write_frame,
)
from safear.errors import InputError
from safear.recourse import Desk
from safear.texts import load_texts

# ------------------------------------------------------ What a browser sends, read as a wish, a person and their terms


LOAN = sa.load_example("loan")


def test_reading_a_form() -> None:
    asked = read_form(b"feature0=young&cost0=1%2C5&chance0=30&cannot1=1&do=outcome:1&history=0,2&weight=7&language=de")
    assert (asked.wish, asked.number, asked.outcomes, asked.weight) == ("outcome", 1, (0, 2, 1), 1.0)
    assert read_record(Desk.of(LOAN), asked, texts=load_texts("en")) == {"age": "young"}
    assert read_terms(LOAN, asked, texts=load_texts("en")) == sa.Terms.of(
        cost={"own a house": 1.5}, forbid=["change job"]
    )
    assert "young" not in repr(asked)


# -------------------------------------------------------------------------------- JSON that people send, as it is read


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '[{"b": {"a": 1, "c": {}, "a": 1}}]', '{"a": 1, "\\u0061": 2}'])
def test_a_name_that_is_given_twice_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="'a' is given twice"):
        read_json(text)


def test_names_may_come_again_elsewhere() -> None:
    assert read_json(b'{"a": {"a": [{"a": 1}, {"a": 2}]}}') == {"a": {"a": [{"a": 1}, {"a": 2}]}}


# ---------------------------------------------------------------------------------- Texts and numbers for spreadsheets


@pytest.mark.parametrize("text", ["=1+1", "+1", "-5 to 0", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_are_texts(text: str) -> None:
    assert defuse(text) == f"'{text}"


@pytest.mark.parametrize("cell", ["plain", "a=b", "", " -1", -0.5, -3, None])
def test_all_else_stays(cell: object) -> None:
    assert defuse(cell) == cell


def test_a_table_without_formulas_is_what_pandas_writes() -> None:
    """To the digit, and with empty cells where there is no figure."""
    row = {"n": 3, "mean": -0.1 - 0.2, "tail": None}
    frame = pd.DataFrame([row, {**row, "tail": 1e-7}], dtype=object, index=pd.Index(["a", 'b, "c"'], name="group"))
    assert write_frame(frame) == frame.to_csv()


def test_a_group_may_be_called_as_a_figure_is() -> None:
    frame = pd.DataFrame({"n": [3]}, index=pd.Index(["a"], name="n"))
    assert write_frame(frame) == "n,n\na,3\n"


# -------------------------------------------------------------------------- Forms with files in them, as they are read


def send(fields: dict[str, str], content: bytes) -> tuple[str, bytes]:
    """What a client sends."""
    request = httpx.Request("POST", "http://x/", data=fields, files={"file": ("ä plan.json", content)})
    return request.headers["content-type"], request.read()


@pytest.mark.parametrize("content", [b"{}\n", "größer\r\nals".encode(), b"", b"--x\r\n\r\n"])
def test_fields_and_files_are_read(content: bytes) -> None:
    fields = {"feature0": "jünger", "cost0": "", "two words": "a\r\nb"}
    assert read_upload(*send(fields, content)) == {**fields, "file": content.decode()}


def test_fields_are_read_as_browsers_send_them() -> None:
    body = (
        b'--B\r\nContent-Disposition: form-data; name="do"\r\n\r\nopen\r\n'
        b'--B\r\nContent-Disposition: form-data; name="file"; filename="; name=.json"\r\n'
        b"Content-Type: application/json\r\n\r\n{}\n\r\n--B--\r\n"
    )
    for header in ("multipart/form-data; boundary=B", 'multipart/form-data; charset=utf-8; boundary="B"'):
        assert read_upload(header, body) == {"do": "open", "file": "{}\n"}


FORM = "multipart/form-data; boundary=B"
NAMED = b'--B\r\nContent-Disposition: form-data; name="a"\r\n'
NESTED = b"".join(b"--B%d\r\nContent-Type: multipart/mixed; boundary=B%d\r\n\r\n" % (i, i + 1) for i in range(1000))
MALFORMED = [
    ("multipart/form-data", b"--B\r\n\r\n"),
    (FORM, b""),
    (FORM, b"nothing of the kind"),
    (FORM, NAMED + b"\r\na"),  # it ends too soon
    (FORM, NAMED + b"\r\na\r\n--B"),
    (FORM, (NAMED + b"\r\n\r\n") * 2001 + b"--B--"),
    (FORM, b"--B\r\n\r\na\r\n--B--"),  # no name
    (FORM, b"--B\r\nContent-Disposition: form-data; name\r\n\r\na\r\n--B--"),
    (FORM, b"--B\r\nContent-Disposition: form-data;" + b";" * 60_000 + b'name="a"\r\n\r\na\r\n--B--'),
    (FORM, b"--B\r\nContent-Disposition: form-data; name*0=" + b'"' * 60_000 + b"\r\n\r\na\r\n--B--"),
    (FORM, NAMED + b"X: y\r\n" * 500 + b"\r\na\r\n--B--"),
    ("multipart/form-data; boundary=B0", NESTED),
    ("multipart/form-data; boundary=" + "(;" * 20_000, b""),
    ("multipart/form-data; boundary=\xe4", b"--\xe4--"),
    ("text/plain", b"a"),
]


@pytest.mark.parametrize(("header", "body"), MALFORMED)
def test_what_is_no_form_is_refused_at_once(header: str, body: bytes) -> None:
    begun = time.perf_counter()
    with pytest.raises(ValueError, match="not a form"):
        read_upload(header, body)
    assert time.perf_counter() - begun < 10  # read again and again, it would be minutes


# -------------------------------------------------------------------------------------------------- The slider's stops


def german_menu() -> sa.Menu:
    data = sa.datasets.load("german")
    return sa.recommend(data.problem, data.classifier(), "row 44")


def test_stops_go_from_the_dearest_on_average_to_the_cheapest() -> None:
    menu = german_menu()
    stops = find_stops(menu)
    assert all(one.offer.best.mean >= other.offer.best.mean for one, other in pairwise(stops))
    assert {stop.offer.best.mean for stop in stops} <= {offer.mean for offer in menu.frontier}
    assert len(stops) > len(menu)
    assert [stop.offer for stop in stops if stop.is_offered] == list(menu)


def test_a_weight_finds_its_stop_again() -> None:
    stops = find_stops(german_menu())
    assert [stop_at(stops, stop.weight) for stop in stops] == list(range(len(stops)))
    assert stop_at(stops, 1.0) == 0
    assert stop_at(stops, 0.0) == len(stops) - 1
    assert stop_at(stops, None) == 0


def test_neighbours() -> None:
    stops = find_stops(sa.recommend(sa.load_example("loan")))
    assert [stop.is_offered for stop in stops] == [True, False, True]
    before, after = neighbours(stops, 1)
    assert before is stops[0].offer
    assert after is stops[2].offer


def test_what_gives_up_or_is_beaten_is_no_stop() -> None:
    """Adult counts nothing for a failure: its frontiers have plans that do not try, and plans that hardly gain."""
    data = sa.datasets.load("adult")
    for name in data.problem.people:
        menu = sa.recommend(data.problem, data.classifier(), name)
        stops = find_stops(menu)
        best = max(offer.cost.success for offer in menu.frontier)
        assert len(menu.frontier) > len(stops) == len(menu) == 1
        assert all(stop.is_offered or stop.offer.cost.success > best - 0.05 for stop in stops)
