"""Files, texts and dictionaries: wrong shapes, wrong numbers, several mistakes at once, and anything at all."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from doors import locate_mistakes
from mistakes import LOAN, edited, shown, told, whole
from safear.errors import PersonError, ProblemError, mistake
from safear.problem import load_person, load_problem, parse_problem
from strategies import FEWER, problems

BOTH = "      - {chance: 0.9, change: {job: employed}}\n      - {chance: 0.1, change: {job: unemployed}, cost: 3}\n"
ANN = "  ann: {age: young, skill: basic, job: employed, sex: female, bmi: 22.5}\n"
DIET = "  diet: {cost: 2, chance: [0.7, 0.9], change: {bmi: -1}}"
CHANGE = "change: {bmi: -1}"
CHANCE = "chance: 0.8"
COST = "cost: 1.5"
EDGES = "edges: [20, 25]"


# ------------------------------------------------------------------------------------------------- fields and shapes


@pytest.mark.parametrize(
    "old, new, place",
    [
        ("safear: 1", "safear: [1]", "1:1: safear"),
        ("title: Loan", "title: Loan\ndescription: [a]", "3:1: description"),
        ("kind: ordinal, levels: [basic", "kind: [ordinal], levels: [basic", "7:11: features.skill.kind"),
        ("mutable: false", "mutable: [a]", "9:48: features.sex.mutable"),
        ("mutable: false", "mutable: {a: b}", "9:48: features.sex.mutable"),
        (EDGES, "edges: [20, 25], values: [1, 2, [3]]", "10:56: features.bmi.values[2]"),
        (EDGES, "edges: [20, 25], values: [1, 2, {a: b}]", "10:56: features.bmi.values[2]"),
        ("cost: 3}", "works: [a]}", "24:50: actions.change job.outcomes[1].works"),
        ("direction: up", "direction: {up: 1}", "27:20: side_effects[0].direction"),
    ],
)
def test_no_words_of_the_libraries_below_get_out(old: str, new: str, place: str) -> None:
    said = told(edited((old, new)))
    assert said.startswith(f"loan.yaml:{place}: ")
    assert said.count("loan.yaml:") == 1
    for word in ("Input should", "valid", "['", "{'"):
        assert word not in said.splitlines()[0]


@pytest.mark.parametrize("text", ["hello\n", "- a\n- b\n", "null\n"])
def test_a_file_holds_a_mapping(text: str) -> None:
    assert told(text) == shown(text, ("1:1: the file must hold a mapping (name: value)", None))


@pytest.mark.parametrize("name", ["<number>", "<by level>", "[key]", "?"])
@pytest.mark.parametrize("place", ["{name}: 1\n", "features: {{{name}: 1}}\n", "actions: {{{name}: {{cost: x}}}}\n"])
def test_names_that_look_like_parts_of_the_machinery(name: str, place: str) -> None:
    said = told(place.format(name=json.dumps(name)))
    assert name in "".join(line for line in said.splitlines() if line.startswith("loan.yaml:"))


# ----------------------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("edge", ["1e400", "1e999999999999999999"])
def test_huge_edges_are_refused(edge: str) -> None:
    text = edited((EDGES, f"edges: [20, {edge}]"))
    said = told(text)
    assert said.startswith("loan.yaml:10:36: features.bmi.edges[1]: ")
    assert said.count("loan.yaml:") == 1


@pytest.mark.parametrize(
    "old, new",
    [
        (CHANCE, "chance: 1e999"),
        (CHANCE, "chance: [9e999999, 9e999999]"),
        (CHANCE, "chance: {skilled: 1e999, manager: 1}"),
        (COST, "cost: [9e999999, 9e999999]"),
        (COST, "cost: {skilled: 1e999, manager: 1}"),
        (COST, "cost: [{when: age == young, cost: 1e999}, 1]"),
    ],
)
def test_huge_numbers_are_refused_everywhere(old: str, new: str) -> None:
    said = [line for line in told(edited((old, new))).splitlines() if line.startswith("loan.yaml:")]
    assert said
    assert all(f": actions.learn.{old.partition(':')[0]}" in line for line in said)


@pytest.mark.parametrize(
    "old, new",
    [
        (COST, "cost: 1E-400"),
        (CHANCE, "chance: 1e-400"),
        (COST, "cost: 0"),
        (CHANCE, "chance: -0.0"),
        (COST, "cost: 1e15"),
    ],
)
def test_small_and_large_numbers_are_read(old: str, new: str) -> None:
    assert parse_problem(edited((old, new))).title == "Loan"


@pytest.mark.parametrize("digits", ["9" * 5_000, "+" + "9" * 5_000, "0." + "9" * 5_000, "1e" + "9" * 5_000])
@pytest.mark.parametrize(
    "old, new",
    [
        ("horizon: 12", "horizon: {}"),
        (COST, "cost: {}"),
        (CHANCE, "chance: {}"),
        (CHANCE, "chance: [0, {}]"),
        (EDGES, "edges: [20, {}]"),
        (EDGES, "edges: [20, 25], values: [1, 2, {}]"),
        (CHANGE, "change: {{bmi: {}}}"),
        (CHANGE, "change: {{bmi: {{by: {}}}}}"),
        ("threshold: 0.5", "threshold: {}"),
        ("bmi: 22.5", "bmi: {}"),
    ],
)
def test_endless_numbers_are_no_crash(old: str, new: str, digits: str) -> None:
    assert_told_well(edited((old, new.format(digits))))


# --------------------------------------------------------------------------------------------- several mistakes at once


def test_all_mistakes_are_told_in_the_order_of_the_file(snapshot: SnapshotAssertion) -> None:
    text = edited(
        ("horizon: 12", "horizon: 0"),
        (EDGES, "edges: [25, 20]"),
        ("threshold: 0.5", "treshold: 0.5"),
        ("skill >= skilled", "skil >= skilled"),
        ("skill < manager", "skill < boss"),
        (COST, "cost: -1"),
        (BOTH, BOTH.replace("0.9", "0.8")),
        (DIET, DIET.replace("cost: 2", "cost: two")),
    )
    assert told(text) == snapshot


def test_a_renamed_name_is_told_where_it_is_missing_and_where_it_stands() -> None:
    text = edited(("sex: female", "sexx: female"))
    assert told(text) == shown(
        text,
        ("31:3: people.ann.sex: 'sex' is missing", "one of: female, male"),
        ("31:50: people.ann.sexx: there is no feature 'sexx'", "did you mean 'sex'?"),
    )


SKILL = ("kind: ordinal, levels: [basic", "kind: ordnal, levels: [basic")
SKILL_SAID = ("7:17: features.skill.kind: 'ordnal' should be 'ordinal', 'nominal' or 'numeric'", None)


@pytest.mark.parametrize(
    "chance",
    [
        "0.8",
        "{skilled: 0.8, manager: 0.7}",
        "{skill: {skilled: 0.8, manager: 0.7}}",
        "[{when: skill > basic, chance: 1}, 0]",
    ],
)
def test_a_broken_feature_makes_no_noise(chance: str) -> None:
    text = edited(SKILL, (CHANCE, f"chance: {chance}"))
    assert told(text) == shown(text, SKILL_SAID)


@pytest.mark.parametrize("chance", ["{skilled: 0.8, manager: 0.7}", "{skil: {skilled: 0.8, manager: 0.7}}"])
def test_a_misspelled_feature_makes_no_noise_in_a_table(chance: str) -> None:
    text = edited((CHANCE, f"chance: {chance}"), ("{skill: +1, age: +1}", "{skil: +1, age: +1}"))
    assert told(text) == shown(
        text, ("18:14: actions.learn.change.skil: there is no feature 'skil'", "did you mean 'skill'?")
    )


@pytest.mark.parametrize(
    "old, new, first, second",
    [
        ("features:\n", "feature:\n", "1:1: features: 'features' is missing", "5:1: feature"),
        ("actions:\n", "action:\n", "1:1: actions: 'actions' is missing", "14:1: action"),
        ("actions:\n", "actions: {}\naction:\n", "14:1: actions: this is empty", "15:1: action"),
    ],
)
def test_a_missing_part_makes_no_noise(old: str, new: str, first: str, second: str) -> None:
    text, name = edited((old, new)), second.rsplit(maxsplit=1)[-1]
    misspelled = (f"{second}: '{name}' is not a field here", f"did you mean '{name}s'?")
    assert told(text) == shown(text, (first, None), misspelled)


def test_a_broken_action_or_person_hides_no_other() -> None:
    text = edited((COST, "cost: x"), (CHANGE, "change: {bni: -1}"), (ANN, "  ann: 3\n  bob: {age: young}\n"))
    assert [line for line in told(text).splitlines() if line.startswith("loan.yaml:")] == [
        "loan.yaml:16:11: actions.learn.cost: 'x' is not a number",
        "loan.yaml:25:48: actions.diet.change.bni: there is no feature 'bni'",
        "loan.yaml:31:8: people.ann: '3' should be a mapping",
        "loan.yaml:32:3: people.bob.skill: 'skill' is missing",
        "loan.yaml:32:3: people.bob.job: 'job' is missing",
        "loan.yaml:32:3: people.bob.sex: 'sex' is missing",
        "loan.yaml:32:3: people.bob.bmi: 'bmi' is missing",
    ]


def test_no_mistake_is_told_twice() -> None:
    text = edited(("skill < manager", "'job in [fired, fired] and job in [employed, fired]'"))
    cause, remedy = "actions.learn.when: 'fired' is not a level of 'job'", "possible: 'employed', 'unemployed'"
    assert told(text) == shown(text, (f"19:11: {cause}", remedy), (f"19:38: {cause}", remedy))


# ----------------------------------------------------------------------------------------------- problems from Python


def test_mistakes_in_a_dictionary_have_a_path_and_no_place() -> None:
    document = yaml.load(edited((COST, "cost: -1"), ("mutable: false", "mutabel: false")), yaml.BaseLoader)
    assert told(document) == whole(
        """
        features.sex.mutabel: 'mutabel' is not a field here
            did you mean 'mutable'?
        actions.learn.cost: the cost -1 is below 0
            costs are positive
        """
    )


def test_half_a_character_in_a_name() -> None:
    """Python can hold it, but no file can."""
    with pytest.raises(ProblemError) as caught:
        parse_problem({"safear": 1, "T\ud800": "x"})
    assert r"'T\ud800' holds half a character" in str(caught.value)
    texts: list[dict[str, Any]] = [{"features": {"a": {"label": {"\ud800": 1}}}}, {"cost": {"unit": "month\ud800s"}}]
    for document, place in zip(texts, (r"features\.a\.label", r"cost\.unit"), strict=True):
        with pytest.raises(ProblemError, match=rf"{place}.*\\ud800.* holds half a character"):
            parse_problem({"safear": 1} | document)
    circle: dict[str, Any] = {"safear": 1}
    with pytest.raises(ProblemError, match="is missing"):
        parse_problem(circle | {"people": [circle]})


def test_a_dictionary_is_left_as_it_is() -> None:
    document = yaml.load(edited((COST, "cost: x"), ("features:", "features_:")), yaml.BaseLoader)
    before = copy.deepcopy(document)
    told(document)
    assert document == before


def test_python_values_say_the_same_as_texts() -> None:
    document = yaml.load(LOAN, yaml.BaseLoader)
    document |= {"safear": 1, "horizon": 12}
    document["features"]["sex"]["mutable"] = False
    document["features"]["bmi"]["edges"] = [20, 25]
    document["goal"] |= {"threshold": 0.5, "failure_cost": 24}
    document["actions"]["learn"] |= {"cost": 1.5, "chance": 0.8, "change": {"skill": {"by": 1}, "age": "+1"}}
    document["actions"]["diet"]["chance"] = [0.7, 0.9]
    document["people"]["ann"]["bmi"] = 22.5
    assert parse_problem(document) == parse_problem(LOAN)


# ------------------------------------------------------------------------------------------------------------- files


def test_problems_from_files(tmp_path: Path) -> None:
    plain = tmp_path / "loan.yaml"
    plain.write_text(LOAN, encoding="utf-8")
    with_mark = tmp_path / "with mark.yml"
    with_mark.write_bytes(b"\xef\xbb\xbf" + LOAN.replace("\n", "\r\n").encode())
    as_json = tmp_path / "loan.JSON"
    as_json.write_bytes(b"\xef\xbb\xbf" + json.dumps(yaml.load(LOAN, yaml.BaseLoader)).encode())
    assert load_problem(plain) == parse_problem(LOAN)
    assert load_problem(str(with_mark)) == load_problem(plain)
    assert load_problem(as_json) == load_problem(plain)


@pytest.mark.parametrize(
    "content, said",
    [
        (None, "{file}: no such file"),
        (b"/", "{file}: is a directory\n    name a file"),
        (b"title: caf\xe9\n", "{file}: not UTF-8 text (byte 10)\n    save the file as UTF-8"),
        (b"\xff\xfet\x00", "{file}: is UTF-16 text, not UTF-8\n    save the file as UTF-8 (in Excel: 'CSV UTF-8')"),
        (b"", "{file}: the file is empty"),
        (b"\xef\xbb\xbf", "{file}: the file is empty"),
        (b"a: [\n", "{file}:2:1: not YAML: expected the node content, but found '<stream end>'\n"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "loan.yaml"
    if content == b"/":
        file.mkdir()
    elif content is not None:
        file.write_bytes(content)
    with pytest.raises(ProblemError) as caught:
        load_problem(file)
    assert f"{caught.value}\n".startswith(said.format(file=file).rstrip("\n") + "\n")


def test_mistakes_name_the_file_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loan.yaml").write_text(edited((COST, "cost: -1")), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProblemError) as caught:
        load_problem("loan.yaml")
    assert str(caught.value).startswith("loan.yaml:16:11: actions.learn.cost: ")
    assert caught.value.exit_code == 2


def test_mistakes_that_are_found_later_are_located(tmp_path: Path) -> None:
    file = tmp_path / "loan.yaml"
    file.write_text(LOAN, encoding="utf-8")
    later = [
        mistake(("actions", "learn", "outcomes", 0, "chance"), "too good"),
        mistake(("cost", "resolution"), "none"),
    ]
    assert [str(item) for item in locate_mistakes(file, later)] == [
        f"{file}:17:13: actions.learn.chance: too good\n        chance: 0.8\n                ^",
        f"{file}:4:1: cost.resolution: none\n    cost: {{unit: months}}\n    ^",
    ]
    assert locate_mistakes(tmp_path / "nothing.yaml", later) == later


PERSON = "age: young\nskill: basic\njob: employed\nsex: female\nbmi: 22.5\n"


@pytest.mark.parametrize("name", ["ann.yaml", "ann.json"])
def test_people_from_files(tmp_path: Path, name: str) -> None:
    problem = parse_problem(LOAN)
    record = {"age": "young", "skill": "basic", "job": "employed", "sex": "female", "bmi": 22.5}
    (tmp_path / name).write_text(json.dumps(record) if name.endswith("json") else PERSON, encoding="utf-8")
    assert load_person(tmp_path / name, problem) == record


@pytest.mark.parametrize(
    "text, mistakes",
    [
        (
            PERSON.replace("young", "old").replace("sex:", "sexx:"),
            [
                ("1:1: sex: 'sex' is missing", "one of: female, male"),
                ("1:6: age: 'old' is not a level of 'age'", "possible: 'young', 'adult', 'senior'"),
                ("4:1: sexx: there is no feature 'sexx'", "did you mean 'sex'?"),
            ],
        ),
        (
            PERSON.replace("basic", "manager").replace("employed", "unemployed"),
            [("1:1: breaks the constraint 'not (job == unemployed and skill == manager)'", None)],
        ),
        (
            PERSON.replace("young", "[young]").replace("basic", "{basic: 1}"),
            [("1:1: age: write a single level here", None), ("2:1: skill: write a single level here", None)],
        ),
        ("- young\n", [("1:1: a person is a mapping of features to levels", None)]),
        (
            PERSON + "age: adult\n",
            [("6:1: age: 'age' is given twice (first on line 1)", "remove or rename one of the two")],
        ),
    ],
)
def test_mistakes_in_the_file_of_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, mistakes: list[tuple[str, str | None]]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ann.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(PersonError) as caught:
        load_person("ann.yaml", parse_problem(LOAN))
    assert str(caught.value) == shown(text, *mistakes, file="ann.yaml")


def test_a_person_without_a_file() -> None:
    with pytest.raises(PersonError, match=r"^nobody\.yaml: no such file$"):
        load_person("nobody.yaml", parse_problem(LOAN))


# ---------------------------------------------------------------------------------------------------- anything at all

WORDS = [
    *["safear", "title", "horizon", "cost", "features", "goal", "classifier", "actions", "side_effects", "constraints"],
    *["people", "rule", "kind", "ordinal", "nominal", "numeric", "levels", "edges", "closed", "values", "mutable"],
    *["chance", "change", "outcomes", "when", "label", "works", "cause", "direction", "to", "by", "unit", "resolution"],
    *["skill", "savings", "low", "high", "1", "0", "-1", "+1", "+0", "0.5", "1e400", "nan", ".inf", "", "?", "null"],
    *["<number>", "<by level>", "[key]", "skill == low", "skill <", "true", "false", "\0", "ä😀"],
]
_scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from(WORDS))
_names = st.sampled_from(WORDS) | st.text(max_size=4)
_anything = st.recursive(
    _scalars, lambda part: st.lists(part, max_size=4) | st.dictionaries(_names, part, max_size=5), max_leaves=15
)


def assert_told_well(source: str | dict[str, Any], name: str = "file.yaml") -> None:
    """A problem comes out, or a ProblemError whose mistakes are sorted, different, and in our own words."""
    try:
        parse_problem(source, name)
    except ProblemError as caught:
        error = caught
    else:
        return
    assert str(error)
    places = [(item.place.line or 0, item.place.column or 0) for item in error.mistakes]
    assert places == sorted(places)
    assert len(set(error.mistakes)) == len(error.mistakes) > 0
    for item in error.mistakes:
        assert item.cause
        assert item.code != "invalid"
        assert "Input should" not in item.cause
        assert "valid" not in item.cause.split()
        if item.place.line and item.place.source is not None:
            assert item.place.column is not None
            assert 1 <= item.place.column <= len(item.place.source) + 1


@given(st.text() | st.text(alphabet="ab1:-,?&*!|>%@`#'\"{}[] \n\t<=+"))
def test_any_text(text: str) -> None:
    assert_told_well(text)
    assert_told_well(text, "file.json")


@FEWER
@given(st.dictionaries(_names, _anything, max_size=8))
def test_any_data(data: dict[str, Any]) -> None:
    assert_told_well(data)
    assert_told_well(json.dumps(data), "file.json")


def _paths(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from _paths(value, (*path, key))


@st.composite
def _damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A valid document with some of its parts dropped, replaced or renamed."""
    document: dict[str, Any] = draw(problems())
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(_paths(document)) or [("safear",)]))
        holder: Any = document
        for part in path[:-1]:
            holder = holder[part]
        way = draw(st.sampled_from(["drop", "replace", "borrow", "rename"]))
        if way == "replace":
            holder[path[-1]] = draw(_anything)
        elif way == "borrow":  # something that stands elsewhere in the same document
            other: Any = document
            for part in draw(st.sampled_from(list(_paths(document)) or [("safear",)])):
                other = other[part]
            holder[path[-1]] = copy.deepcopy(other)
        elif way == "rename" and isinstance(holder, dict):
            holder[draw(_names)] = holder.pop(path[-1])
        else:
            del holder[path[-1]]
    return document


@FEWER
@given(_damaged())
def test_damaged_documents(document: dict[str, Any]) -> None:
    assert_told_well(document)
    assert_told_well(json.dumps(document), "file.json")
    assert_told_well(yaml.safe_dump(document, sort_keys=False), "file.yaml")
