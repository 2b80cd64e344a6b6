"""YAML and JSON as written: texts stay texts, every part has a place, and broken files say where they break."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from doors import plain_tree, read_tree
from doors import tree as module
from mistakes import LOAN, edited, shown, told, whole
from safear.errors import InputError, PersonError, ProblemError, mistake, on_key
from safear.problem import parse_problem


def read(text: str, file: str = "file.yaml") -> Any:
    tree = read_tree(text, file, ProblemError)
    assert tree.mistakes == []
    return tree.data


TOO_DEEP = "    a file has at most 100 levels, one in another"


def refused(text: str, file: str = "file.yaml") -> str:
    with pytest.raises(ProblemError) as caught:
        read_tree(text, file, ProblemError)
    return str(caught.value)


# ------------------------------------------------------------------------------------------------- scalars as written

AS_WRITTEN = [
    *["no", "yes", "on", "off", "true", "True", "false", "null", "Null", "~", "1", "1.0", "1.50", "007", "0x1F", "0o7"],
    *["1_000", "1e3", "+1", "-1", ".inf", ".nan", "2024-01-31", "12:30:45", "=", "<<", "Little (Res)", "größe", "a b"],
    *["20-25", ">=25", "<20", "it's", "😀"],
]


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_scalars_are_read_as_written(text: str) -> None:
    quoted = "'" + text.replace("'", "''") + "'"
    in_text = ">" in text[:1]  # the only one that needs quotes outside of a list
    assert read(f"a: {quoted if in_text else text}") == {"a": text}
    assert read(f"a: {quoted}") == {"a": text}
    assert read(f"a: {json.dumps(text)}") == {"a": text}
    assert read(json.dumps({"a": text}), "file.json") == {"a": text}
    assert read(json.dumps({text: "a"}), "file.json") == {text: "a"}


@pytest.mark.parametrize("text", [text for text in AS_WRITTEN if text not in {"<<", ">=25", "<20", "="}])
def test_levels_are_read_as_written(text: str) -> None:
    problem = parse_problem(
        edited(
            ("levels: [female, male], mutable: false", f"levels: [{text}, other]"),
            ("sex: female", f"sex: {text}"),
            ("change: {bmi: -1}", f"change: {{sex: {text}}}, when: sex != other"),
        )
    )
    assert problem.feature_by_name["sex"].levels == (text, "other")
    assert problem.people["ann"]["sex"] == text
    (change,) = (outcome.change["sex"] for outcome in problem.action_by_name["diet"].outcomes if outcome.change)
    assert change.level == text  # type: ignore[union-attr]  # not a move


@pytest.mark.parametrize(
    "text, value", [("true", "true"), ("null", "null"), ("1.50", "1.50"), ("-0", "-0"), ("1E400", "1E400")]
)
def test_values_of_json_are_read_as_written(text: str, value: str) -> None:
    assert read(f'{{"a": {text}}}', "file.json") == {"a": value}


@pytest.mark.parametrize(
    "text, value",
    [
        (r'"\u00e4"', "ä"),
        (r'"\ud83d\ude00"', "😀"),
        (r'"\ud83d"', "\N{REPLACEMENT CHARACTER}"),
        (r'"a\/b"', "a/b"),
        (r'"\"\\\b\f\n\r\t"', '"\\\b\f\n\r\t'),
        (r'"\u0000"', "\0"),
        ('"# no comment: [here]"', "# no comment: [here]"),
        ('"*a &b !c %d @e"', "*a &b !c %d @e"),
        ('"😀"', "😀"),
    ],
)
def test_texts_of_json(text: str, value: str) -> None:
    assert read(f'{{"a": {text}}}', "file.json") == {"a": value}
    assert read(f"{{{text}:[{text},\t{text}]}}", "FILE.JSON") == {value: [value, value]}


@pytest.mark.parametrize("indent", [None, 2, "\t"])
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,", " :\t")])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_json_says_the_same_as_yaml(indent: Any, separators: tuple[str, str], ascii_only: bool) -> None:
    text = edited(("title: Loan", "title: Größe 😀"))
    data = yaml.load(text, yaml.BaseLoader)
    dumped = json.dumps(data, indent=indent, separators=separators, ensure_ascii=ascii_only)
    assert parse_problem(dumped, "loan.json") == parse_problem(text, "loan.yaml")


_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029"), max_size=20)
_data = st.recursive(
    _texts, lambda part: st.lists(part, max_size=4) | st.dictionaries(_texts, part, max_size=4), max_leaves=10
)


@given(_data)
def test_texts_come_through_whatever_they_hold(data: Any) -> None:
    assert read(json.dumps({"data": data}), "file.json") == {"data": data}
    assert read(yaml.safe_dump({"data": data}), "file.yaml") == {"data": data}


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + LOAN,
        LOAN.replace("\n", "\r\n"),
        LOAN.replace("\n", "\r"),
        "%YAML 1.1\n---\n" + LOAN,
        "---\n" + LOAN + "...\n",
        "# only a comment\n\n" + LOAN + "\n\n# the end",
        LOAN.rstrip("\n"),
    ],
    ids=["BOM", "Windows", "old Mac", "directive", "marks", "comments", "no last newline"],
)
def test_what_surrounds_the_text_does_not_matter(text: str) -> None:
    assert parse_problem(text, "loan.yaml") == parse_problem(LOAN, "loan.yaml")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(ending: str) -> None:
    text = edited(("{bmi: -1}", "{bni: -1}")).replace("\n", ending)
    assert told(text) == whole(
        """
        loan.yaml:25:48: actions.diet.change.bni: there is no feature 'bni'
              diet: {cost: 2, chance: [0.7, 0.9], change: {bni: -1}}
                                                           ^
            did you mean 'bmi'?
        """
    )


# ------------------------------------------------------------------------------------------------------------- places


def test_every_part_has_a_place() -> None:
    tree = read_tree("a:\n  b: [x, 'y']\n  c:\n    - d: z\n", "file.yaml", ProblemError)

    def place(*path: str | int) -> tuple[int | None, int | None]:
        found = tree.locate(mistake(path, "wrong")).place
        return found.line, found.column

    assert place("a") == (1, 1)  # a collection is shown at its name
    assert place("a", "b") == (2, 3)
    assert place("a", "b", 0) == (2, 7)  # a text where it stands
    assert place("a", "b", 1) == (2, 10)
    assert place("a", "c", 0) == (4, 7)
    assert place("a", "c", 0, "d") == (4, 10)
    assert place("a", "nothing", "here") == (1, 1)  # what is missing is shown at what should hold it
    assert place("nothing") == (1, 1)
    named = tree.locate(mistake(on_key(("a", "c", 0, "d")), "wrong")).place
    assert (named.line, named.column, named.source) == (4, 7, "    - d: z")


def test_data_made_in_python_has_no_places() -> None:
    found = plain_tree({"a": [1]}, ProblemError).locate(mistake(("a", 0), "wrong"))
    assert str(found) == "a[0]: wrong"


# ------------------------------------------------------------------------------------------------------ broken files


@pytest.mark.parametrize(
    "text, said",
    [
        (
            "safear: 1\nfeatures:\n\tage: {}\n",
            "3:1: not YAML: found character '\\t' that cannot start any token | indent with spaces, not with tabs",
        ),
        (
            "title: Loan: second\n",
            (
                "1:12: not YAML: mapping values are not allowed here"
                " | put a text that contains ': ' in quotes, and check the indentation"
            ),
        ),
        (
            "cost: {unit: months\nfeatures: {}\n",
            "2:9: not YAML: expected ',' or '}', but got ':' | a bracket or a comma may be missing",
        ),
        ("a: *nope\n", "1:4: not YAML: found undefined alias 'nope'"),
        ("a: @x\n", "1:4: not YAML: found character '@' that cannot start any token"),
        ("a: 1\n---\nb: 2\n---\nc: 3\n", "3:1: a second document starts here | keep one document in a file"),
    ],
)
def test_broken_yaml(text: str, said: str) -> None:
    mistake, _, remedy = said.partition(" | ")
    assert refused(text) == shown(text, (mistake, remedy or None), file="file.yaml")


@pytest.mark.parametrize(
    "text, said",
    [
        (
            "a: [b, c\n",
            ":2:1: not YAML: expected ',' or ']', but got '<stream end>'\n    a bracket or a comma may be missing",
        ),
        ("a: 1\nb: \x07\n", ": not YAML: unacceptable character #x0007: special characters are not allowed"),
        ("", ": the file is empty"),
        (" \n\n", ": the file is empty"),
        ("# nothing\n", ": the file is empty"),
    ],
)
def test_yaml_without_a_line_to_show(text: str, said: str) -> None:
    assert refused(text) == f"file.yaml{said}"


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "file.json:1:1: not JSON: Expecting value"),
        ("a: 1", "file.json:1:1: not JSON: Expecting value\n    a: 1\n    ^"),
        (
            '{\n\t"safear": 1,\n\t"title": "x" "y"\n}',
            'file.json:3:15: not JSON: Expecting \',\' delimiter\n    \t"title": "x" "y"\n    \t             ^',
        ),
        (
            '{"title": "\\u00e4\\ud83d\\ude00", "a" 1}',
            r"""
            file.json:1:37: not JSON: Expecting ':' delimiter
                {"title": "\u00e4\ud83d\ude00", "a" 1}
                                                    ^
            """,
        ),
        (
            r'{"title": "\x"}',
            'file.json:1:12: not JSON: Invalid \\escape\n    {"title": "\\x"}\n               ^',
        ),
        (
            '{"a": 1}\n{"a": 1}',
            'file.json:2:1: not JSON: Extra data\n    {"a": 1}\n    ^',
        ),
    ],
)
def test_broken_json(text: str, said: str) -> None:
    assert refused(text, "file.json") == whole(said)


@pytest.mark.parametrize(
    "text, name, column",
    [
        ("[" * 500, "file.yaml", 102),
        ("- " * 300, "file.yaml", 203),
        ("[" * 200_000, "file.json", 102),
        ('{"a":' * 2_000 + "1" + "}" * 2_000, "file.json", 502),
    ],
    ids=["yaml list", "yaml dashes", "json list", "json mapping"],
)
def test_what_nests_too_deeply(text: str, name: str, column: int) -> None:
    first, source, caret, remedy = refused(text, name).splitlines()
    assert (first, remedy) == (f"{name}:1:{column}: nested too deeply", TOO_DEEP)
    assert len(source) < 300
    assert source[caret.index("^")] == text[column - 1]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_of_broken_json_are_counted_whatever_ends_them(ending: str) -> None:
    text = '{\n "a": "x\u2028y",\n "b" 1\n}'.replace("\n", ending)
    head, source, caret = refused(text, "file.json").splitlines()
    assert head.endswith(": not JSON: Expecting ':' delimiter")
    assert (source, caret) == ('     "b" 1', "         ^")


def test_a_trailing_comma_in_json_is_shown() -> None:
    said = refused('{"safear": 1,\n "title": "x",}', "file.json")  # its words differ between versions of Python
    assert said.startswith("file.json:2:1")
    assert ": not JSON: " in said


@pytest.mark.parametrize(
    "text, column",
    [("learn: {cost: 1, when: skill in [basic, skilled]}\n", 33), ("rule: 'job' == employed\n", 13)],
)
def test_texts_that_need_quotes_are_explained(text: str, column: int) -> None:
    said = refused(text)
    assert said.startswith(f"file.yaml:1:{column}: not YAML: ")
    assert "quotes" in said


@pytest.mark.parametrize("tag", ["! ", "!not "])
def test_yaml_tags_are_not_swallowed(tag: str) -> None:
    """In YAML `! job == employed` is the text `job == employed`: the opposite of what its author means."""
    said = told(edited(("rule: job ==", f"rule: {tag}job ==")))
    assert said.startswith("loan.yaml:13:9: classifier.rule: ")
    assert said.count("loan.yaml:") == 1


def test_the_error_is_of_the_kind_that_was_asked_for() -> None:
    for kind in (ProblemError, PersonError):
        with pytest.raises(kind) as caught:
            read_tree("", "file.yaml", kind)
        assert type(caught.value) is kind
        assert isinstance(caught.value, InputError)


# ---------------------------------------------------------------------------------------------------- doubled names


@pytest.mark.parametrize(
    "old, new, mistake",
    [
        ("title: Loan\n", "title: Loan\ntitle: Loan\n", "3:1: title: 'title' is given twice (first on line 2)"),
        ("  job: {kind", "  skill: {kind", "8:3: features.skill: 'skill' is given twice (first on line 7)"),
        (
            "{bmi: -1}",
            "{bmi: -1, 'bmi': +1}",
            "25:57: actions.diet.change.bmi: 'bmi' is given twice (first on line 25)",
        ),
        ("bmi: 22.5}\n", 'bmi: 22.5}\n  "ann": {}\n', "32:3: people.ann: 'ann' is given twice (first on line 31)"),
    ],
)
def test_a_name_is_given_once(old: str, new: str, mistake: str) -> None:
    text = edited((old, new))
    assert told(text) == shown(text, (mistake, "remove or rename one of the two"))


def test_doubled_names_in_json() -> None:
    text = '{"a": 1,\n "b": 2,\n "\\u0061": 3}'
    tree = read_tree(text, "file.json", ProblemError)
    (found,) = tree.mistakes
    assert str(found) == whole(
        r"""
        file.json:3:2: a: 'a' is given twice (first on line 1)
             "\u0061": 3}
             ^
            remove or rename one of the two
        """
    )
    assert tree.data == {"a": "1", "b": "2"}


@pytest.mark.parametrize("name, column", [("? [a, b]\n  ", 5), ("? {a: b}\n  ", 5), ("[a, b]", 3)])
def test_a_name_is_a_single_text(name: str, column: int) -> None:
    text = edited(("  diet: {", f"  {name}: {{"))
    assert told(text) == shown(text, (f"25:{column}: actions: a name must be a single text", None))


# ----------------------------------------------------------------------------------------------------------- aliases


def test_aliases_say_again_what_stands_elsewhere() -> None:
    text = edited(
        ("  job: {kind: nominal, levels: [employed, unemployed]}", "  job: &job {kind: nominal, levels: &l [a, b]}"),
        ("levels: [female, male]", "levels: *l"),
        ("sex: female", "sex: b"),
        ("job: employed, sex", "job: a, sex"),
    )
    text = text.replace("job == employed", "job == a").replace("job == unemployed", "job == b")
    text = text.replace("{job: employed}", "{job: a}").replace("{job: unemployed}", "{job: b}")
    assert parse_problem(text).feature_by_name["sex"].levels == ("a", "b")


def test_an_alias_to_itself_is_said_and_nothing_else() -> None:
    text = edited(("levels: [female, male]", "levels: &x [female, *x]"))
    assert told(text) == shown(text, ("9:32: features.sex.levels[1]: refers to itself", None))


def test_a_file_that_holds_itself_is_said_and_nothing_else() -> None:
    text = edited(("goal: {favourable: approved, threshold: 0.5, failure_cost: 24}", "goal: *file"))
    text = f"&file\n{text}"
    assert told(text) == shown(text, ("1:1: goal: refers to itself", None))


def test_a_small_file_that_means_a_huge_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PARTS", 10_000)
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    remedy = "keep people in a table of their own (CSV or Parquet), and cut long scales into fewer levels"
    assert refused("\n".join(lines)) == (
        f"file.yaml:1:5: more than 10,000 parts up to here\n    {lines[0]}\n        ^\n    {remedy}"
    )


def test_as_many_people_as_ever_are_read() -> None:
    """Sixteen thousand with six features each."""
    assert module.MAX_PARTS >= 16_000 * (1 + 6)


def test_aliases_that_nest_too_deeply_are_refused() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 1_200))]
    assert refused("\n".join(lines)) == f"file.yaml:1:10: nested too deeply\n    {lines[0]}\n{' ' * 13}^\n{TOO_DEEP}"


# -------------------------------------------------------------------------------------------------------- long files


def test_a_mistake_far_down_is_found() -> None:
    text = "# a comment\n" * 20_000 + edited(("{bmi: -1}", "{bni: -1}"))
    assert told(text) == shown(
        text, ("20025:48: actions.diet.change.bni: there is no feature 'bni'", "did you mean 'bmi'?")
    )


def test_a_file_in_one_line_is_not_repeated_as_a_whole() -> None:
    data = yaml.load(LOAN, yaml.BaseLoader)
    data["description"] = "long " * 20_000
    data["actions"]["diet"]["cost"] = "-7"
    said = told(json.dumps(data), "loan.json")
    head, source, caret, remedy = said.splitlines()
    assert head.endswith(": actions.diet.cost: the cost -7 is below 0")
    assert remedy == "    costs are positive"
    assert source[caret.index("^") :].startswith('"-7"')
    assert len(source) < 1_000


def test_reading_stops_where_a_file_becomes_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PARTS", 1000)
    few = "\n".join(f"- {i}" for i in range(2010))
    more = few + "\n- [not closed\n" * 3
    for text in (few, more):  # what comes after is not even looked at
        with pytest.raises(InputError) as raised:
            read_tree(text, "x.yaml", InputError)
        assert raised.value.mistakes[0].code == "too_many"
        assert "table" in str(raised.value)
