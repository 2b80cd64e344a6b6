"""Whatever stands in titles, labels, cells and options: a terminal gets text, and data stays as it is."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import safear as sa
from promises.cli.conftest import Safear

# ESC with colours, a link (OSC 8) and a title (OSC 2), C1's CSI, backspaces, a bell, a carriage return, overrides of
# the direction, a separator of lines, a new line, markup of rich.
NASTY = "\x1b[31mred\x1b]8;;http://x\x07link\x9b2Jclear\b\b\r\u202eturned\u2066\u2028\nnew\x00 [red]x[/red] \\[bold]"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]")


def _name(word: str) -> str:
    return f"{word} {NASTY}"


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    """A problem file in which everything that may hold a text holds a nasty one."""
    savings, job = _name("savings"), _name("job")
    quoted = savings.replace("\\", "\\\\").replace("'", "\\'")
    low, high = _name("low"), _name("high")
    document = {
        "safear": 1,
        "title": _name("title"),
        "description": _name("description"),
        "horizon": 3,
        "cost": {"unit": _name("months")},
        "features": {
            savings: {"kind": "ordinal", "levels": [low, high], "label": _name("label"), "help": _name("help")},
            job: {"kind": "nominal", "levels": [_name("a"), _name("b")], "mutable": False},
        },
        "goal": {"favourable": _name("granted"), "decision": {"rejected": _name("no")}},
        "classifier": {"rule": f"'{quoted}' == '{high.replace(chr(92), chr(92) * 2)}'"},
        "actions": {
            _name("save"): {
                "cost": {"value": 2, "source": _name("source")},
                "label": _name("do"),
                "outcomes": [
                    {"chance": [0.6, 0.7, 0.8], "change": {savings: high}, "label": _name("worked")},
                    {"change": {}, "label": _name("failed")},
                ],
            }
        },
        "people": {_name("me"): {savings: low, job: _name("a")}},
        "provider": {"name": _name("bank"), "contact": _name("street"), "appeal": _name("court")},
    }
    path = tmp_path / "nasty.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def _assert_text(*texts: str) -> None:
    for text in texts:
        assert not OBEYED.search(text), repr(text[:2000])


@pytest.mark.parametrize(
    "command",
    [
        ("check", "{0}"),
        ("check", "{0}", "--json"),
        ("recommend", "{0}"),
        ("recommend", "{0}", "--json"),
        ("recommend", "{0}", "--robust", "--objective", "cvar:0.9", "--simulate", "50"),
        ("walk", "{0}"),
        ("walk", "{0}", "--outcome", "failed"),
        ("sensitivity", "{0}"),
        ("compare", "{0}"),
        ("recommend", "{0}", "--plan", "cheapest", "--save", "plan.json"),
        ("serve", "{0}", "--language", NASTY.replace("\x00", "")),
        ("recommend", "{0}", "--row", NASTY.replace("\x00", "")),
        ("recommend", "{0}", "--forbid", NASTY.replace("\x00", "")),
        ("recommend", "{0}", "--set", NASTY.replace("\x00", "") + "=1"),
        ("recommend", "{0}", "--person", NASTY.replace("\x00", "") + ".csv"),
        ("recommend", "{0}", "--plan", NASTY.replace("\x00", ""), "--save", "x.json"),
        (NASTY.replace("\x00", ""),),
    ],
    ids=lambda command: " ".join(command)[:40].encode("unicode_escape").decode(),
)
def test_no_command_sends_control_characters(safear: Safear, problem: Path, command: tuple[str, ...]) -> None:
    answer = safear(*(part.replace("{0}", str(problem)) if part == "{0}" else part for part in command))
    assert answer.out + answer.err
    _assert_text(answer.out, answer.err)
    if "recommend" in command and not answer.err and "--json" not in command:
        assert "[red]x[/red]" in answer.out


def test_json_on_the_screen_is_the_same_data_as_in_a_file(safear: Safear, problem: Path, tmp_path: Path) -> None:
    shown = safear("recommend", problem, "--json", "-o", "out.json").out
    written = (tmp_path / "out.json").read_text(encoding="utf-8")
    assert json.loads(shown) == json.loads(written)
    assert "\x9b2J" in written
    assert "\x9b2J" not in shown


def test_pictures_and_letters_hold_no_invalid_characters(safear: Safear, problem: Path, tmp_path: Path) -> None:
    for kind in ("traces", "distribution", "tree", "frontier"):
        answer = safear("plot", kind, problem, "--out", f"{kind}.svg")
        assert answer.code == 0, answer.err
        text = (tmp_path / f"{kind}.svg").read_text(encoding="utf-8")
        ET.fromstring(text)
        _assert_text(text)
    answer = safear("recommend", problem, "--report", "letter.html")
    assert answer.code == 0, answer.err
    _assert_text((tmp_path / "letter.html").read_text(encoding="utf-8"))


def test_a_cell_of_a_megabyte_is_not_repeated(safear: Safear, tmp_path: Path) -> None:
    cell = "x" * 1_000_000 + NASTY.replace("\x00", "")
    answer = safear("recommend", "loan", "--set", f"savings={cell}")
    assert answer.code == 2
    assert len(answer.err) < 5_000
    assert "savings" in answer.err
    _assert_text(answer.err)
    (tmp_path / "p.csv").write_text(f"savings,job\n{'y' * 1_000_000},z\n", encoding="utf-8")
    answer = safear("audit", "loan", "p.csv", "--group", "job")
    assert answer.code == 2
    assert len(answer.err) < 5_000


def test_what_groups_are_called_reaches_no_terminal_raw(safear: Safear, tmp_path: Path) -> None:
    (person,) = list(sa.load_example("loan").people.values())[:1]
    with (tmp_path / "p.csv").open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow([*person, "group\x1b[1m"])
        for group in ("a\x9b2J\x1b[31m[red]", "b"):
            rows.writerow([*person.values(), group])
    answer = safear("audit", "loan", "p.csv", "--group", "group\x1b[1m")
    assert answer.code == 0, answer.err
    _assert_text(answer.out, answer.err)
    assert "[red]" in answer.out


def test_texts_are_printed_in_one_place() -> None:
    """`click.echo` elsewhere would print names as they are: those that do so print texts of our own."""
    folder = Path(sa.__file__).parent / "cli"
    own = {"results.py", "examples.py", "reproduce.py"}
    assert {path.name for path in folder.glob("*.py") if "click.echo(" in path.read_text(encoding="utf-8")} <= own
    assert not [
        path for path in folder.glob("*.py") if re.search(r"\bprint\(", path.read_text().replace(".print(", ""))
    ]
