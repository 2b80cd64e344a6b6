"""The catalogue of texts, its files, and mistakes."""

from __future__ import annotations

import re
import string
import subprocess
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import safear
import safear as sa
from doors import (
    flatten,
    merge_terms,
    missing_given,
    out_of_limits,
    parse_texts,
    person_mistakes,
    read_language,
    split_catalogue,
    tell_mistake,
)
from english import LETTERS, english_in
from safear.errors import Mistake, format_path, mistake
from safear.problem import Feature
from safear.texts import Texts, languages, load_texts

# ------------------------- Texts in every language: the same keys and places, and numbers as each language writes them


OTHERS = [language for language in languages() if language != "en"]


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def all_places(text: str | Mapping[str, str]) -> set[str]:
    return places(text) if isinstance(text, str) else set().union(*map(places, text.values()))


def dump(document: object) -> str:
    """Write the file of a language."""
    return yaml.safe_dump(document, allow_unicode=True, sort_keys=False)


def differences(texts: Texts, english: Texts) -> Iterator[str]:
    """What a language lacks or has too much of."""
    yield from (f"lacks {key}" for key in english.entries if key not in texts.entries)
    yield from (f"has {key}, which en lacks" for key in texts.entries if key not in english.entries)
    for key, text in texts.entries.items():
        other = english.entries.get(key, text)
        if isinstance(text, str) != isinstance(other, str):
            yield f"{key}: plural forms in one language only"
        if all_places(text) != all_places(other):
            yield f"{key}: has {sorted(all_places(text))}, en has {sorted(all_places(other))}"
        named = key.startswith(("card.times", "durations."))  # things may have more or fewer names
        if isinstance(text, str) and isinstance(other, str) and not named:
            yield from [f"{key}: other columns than in en"] if text.count("|") != other.count("|") else []


# ----------------------------------------------------------------------------------------------------- the same texts


def test_each_language_has_its_own_name() -> None:
    assert load_texts().language == "en"
    assert [load_texts(code)("name") for code in ("en", "de", "es")] == ["English", "Deutsch", "Español"]
    assert len({load_texts(code)("name") for code in languages()}) == len(languages())
    assert re.fullmatch(r"Texts\('de': \d+ texts\)", repr(load_texts("de")))


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_the_texts_of_english(language: str) -> None:
    assert list(differences(load_texts(language), load_texts("en"))) == []


@pytest.mark.parametrize("language", languages())
def test_the_parts_are_the_whole(language: str) -> None:
    """A file is read part by part; nothing of it is lost between them."""
    whole, texts = yaml.load(read_language(language), yaml.BaseLoader), load_texts(language)
    assert list(split_catalogue(read_language(language))) == list(whole)
    plural, before = whole.pop("plural"), whole.pop("before", {})
    assert (list(texts.forms), texts.singulars, texts.before) == (plural["forms"], plural.get("one", {}), before)
    assert list(texts.entries.items()) == list(flatten(whole, texts.forms))


@pytest.mark.parametrize("language", languages())
def test_a_failure_with_a_title_has_a_lead(language: str) -> None:
    told = {key for key in load_texts(language).entries if key.startswith("web.failure.")}
    titles = [key for key in told if key.endswith(".title")]
    assert titles
    assert [key for key in titles if key.replace(".title", ".lead") not in told] == []


def test_whether_the_language_is_named_or_not_the_texts_are_the_same() -> None:
    assert load_texts() is load_texts("en")


def test_what_is_missing_is_found() -> None:
    document = yaml.load(read_language("de"), yaml.BaseLoader)
    del document["report"]["about"]["advice"]
    document["report"]["more"] = "mehr"
    document["report"]["lead"]["none"] = "Kein Plan führt zu {ziel}."
    document["steps"] = "{count} Schritte"
    document["audit"]["file"]["overall_headings"] = "Größe"
    assert list(differences(parse_texts("de", dump(document)), load_texts("en"))) == [
        "lacks report.about.advice",
        "has report.more, which en lacks",
        "steps: plural forms in one language only",
        "audit.file.overall_headings: other columns than in en",
        "report.lead.none: has ['ziel'], en has ['goal']",
    ]


@pytest.mark.parametrize("language", languages())
def test_files_are_well_formed(language: str) -> None:
    texts = load_texts(language)
    assert {texts.rule(count) for count in range(300)} == set(range(len(texts.forms)))
    for key, text in texts.entries.items():
        for form in [text] if isinstance(text, str) else text.values():
            assert form == form.strip() or key == "ways.then", key
            assert form, key
            assert "  " not in form, key
            assert all(name.isidentifier() for name in places(form)), key
    assert list(repeated(yaml.compose(read_language(language)))) == []


def repeated(node: Any, path: str = "") -> Iterator[str]:
    """Keys that stand twice in a mapping; the second would silently win."""
    if isinstance(node, yaml.MappingNode):
        names = [key.value for key, _ in node.value]
        yield from (f"{path}{name}" for name in set(names) if names.count(name) > 1)
        for key, value in node.value:
            yield from repeated(value, f"{path}{key.value}.")


@pytest.mark.parametrize("language", OTHERS)
def test_no_text_was_left_in_english(language: str) -> None:
    english = load_texts("en").entries
    for key, text in load_texts(language).entries.items():
        for form in [text] if isinstance(text, str) else text.values():
            said = re.sub(r"{\w+}|--\w+(-\w+)?|goal\.failure_cost|gives_up", "", form)
            assert text != english[key] or len(LETTERS.findall(said)) < 2, key  # one word may be the same
            assert [word for word in english_in(said) if word.lower() != "no"] == [], key  # "no" is not English alone


INFORMAL = {
    "de": r"\b([Dd]u|[Dd]ein\w*|[Dd]ir|[Dd]ich|[Ee]uch)\b",
    "es": r"\b([Tt][úu]s?|[Tt]i|[Tt]e|[Tt]uy[oa]s?|[Vv]osotr[oa]s|[Vv]uestr[oa]s?|[Oo]s)\b",
}


@pytest.mark.parametrize("language", [language for language in OTHERS if language in INFORMAL])
def test_people_are_addressed_formally_and_in_plain_words(language: str) -> None:
    for key, text in load_texts(language).entries.items():
        for form in [text] if isinstance(text, str) else text.values():
            assert not re.search(INFORMAL[language], form), key
            assert not re.search(r"CVaR|VaR\b|[Qq]uantil", form), key


# ------------------------------------------------------------------------------------------------------------ filling


def test_places_and_plurals() -> None:
    english, german = load_texts("en"), load_texts("de")
    assert [english("steps", count=count) for count in (0, 1, 2, 12000)] == [
        "0 steps", "1 step", "2 steps", "12,000 steps",
    ]  # fmt: skip
    assert [german("steps", count=count) for count in (1, 12000)] == ["1 Schritt", "12.000 Schritte"]
    assert german.part("report.about")("ask") == german("report.about.ask")
    assert english("picture.tree.on", step="{goal} %s {0}") == "on to step {goal} %s {0}"
    assert "steps" in english
    assert "report.nothing" not in english


def test_what_cannot_be_filled_in() -> None:
    with pytest.raises(KeyError, match=r"'de' has no text 'report\.nothing'"):
        load_texts("de")("report.nothing")
    with pytest.raises(KeyError):
        load_texts("de")("report.lead.none")
    with pytest.raises(TypeError, match=r"'steps' counts 1\.5, which is no whole number"):
        load_texts("en")("steps", count=1.5)


@pytest.mark.parametrize(
    ("language", "remedy"), [("ed", "possible: 'de', 'en', 'es'"), ("DE", "did you mean 'de'?"), ("", "possible: ")]
)
def test_a_language_that_is_not_there(language: str, remedy: str) -> None:
    with pytest.raises(sa.InputError) as caught:
        load_texts(language)
    assert str(caught.value).startswith(f"there are no texts in the language '{language}'\n    {remedy}")


def test_a_third_language_is_one_file() -> None:
    """Here one with three plural forms."""
    rule = "n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"
    document = {
        "plural": {"forms": ["one", "few", "many"], "rule": rule},
        "format": {"group": "\u00a0", "decimal": ","},
        "steps": {"one": "{count} krok", "few": "{count} kroki", "many": "{count} kroków"},
    }
    polish = parse_texts("pl", dump(document))
    assert [polish("steps", count=count) for count in (1, 3, 5, 22)] == ["1 krok", "3 kroki", "5 kroków", "22 kroki"]


# ------------------------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize(
    ("value", "english", "german"),
    [
        (3.5, "3.5 months", "3,5 months"),
        (1, "1 month", "1 month"),
        (0.999, "1 month", "1 month"),
        (0, "0 months", "0 months"),
        (0.012345, "0.012 months", "0,012 months"),
        (2.678, "2.68 months", "2,68 months"),
        (1234.5, "1234.5 months", "1234,5 months"),
        (1234567.891, "1,234,567.89 months", "1.234.567,89 months"),
        (-0.5, "−0.5 months", "−0,5 months"),
        (1e-7, "1e-07 months", "1e-07 months"),
        (1.5e-7, "1.5e-07 months", "1,5e-07 months"),
    ],
)
def test_costs(value: float, english: str, german: str) -> None:
    assert (load_texts("en").cost(value, "months"), load_texts("de").cost(value, "months")) == (english, german)


@pytest.mark.parametrize(
    ("typed", "english", "german"),
    [
        ("12", "12", "12"),
        ("12.5", "12.5", "12.5"),
        ("12,5", "12.5", "12.5"),
        ("5,000", "5000", "5.000"),
        ("5.000", "5.000", "5000"),
        ("0,125", "0.125", "0.125"),
        ("1,234,567.5", "1234567.5", "1,234,567.5"),
        ("1.234.567,5", "1.234.567,5", "1234567.5"),
        ("−3", "-3", "-3"),
        ("+.5", "0.5", "0.5"),
        ("007", "007", "007"),
        ("0.500", "0.500", "0.500"),
        ("01,500", "01 500", "1.500"),  # a thousand and more, or one and a half: to nobody a number
        ("-01.500", "-1.500", "-01 500"),
        ("01.5", "1.5", "1.5"),
        ("٦.٥", "٦.٥", "٦.٥"),  # digits of other scripts are none anywhere
        ("６.５", "６.５", "６.５"),
        ("+６", "+６", "+６"),
        ("1,０００", "1,０００", "1,０００"),
        ("12,34,5", "12,34,5", "12,34,5"),
        ("24-36", "24-36", "24-36"),
        ("small, or none", "small, or none", "small, or none"),
        ("", "", ""),
    ],
)
def test_numbers_as_people_write_them(typed: str, english: str, german: str) -> None:
    assert (load_texts("en").read_number(typed), load_texts("de").read_number(typed)) == (english, german)


@given(st.integers(-(10**9), 10**9), st.integers(0, 3), st.sampled_from(languages()))
def test_numbers_read_back(number: int, decimals: int, language: str) -> None:
    value, texts = number / 10**decimals, load_texts(language)
    assert float(texts.read_number(texts.exact_number(value))) == value
    assert float(texts.read_number(texts.write_number(str(value)))) == value


@pytest.mark.parametrize(
    ("typed", "english", "german"),
    [
        ("6143", "6,143", "6.143"),
        ("1,000", "1,000", "1"),
        ("1.000", "1", "1.000"),
        ("6.143", "6.143", "6.143"),
        ("-6,143", "−6,143", "−6,143"),
        ("12.5", "", "12,5"),
        ("12", "", ""),
        ("1.5", "", "1,5"),
        ("-3", "", ""),
        ("-1234,5", "−1,234.5", "−1.234,5"),
        ("007", "", ""),
        ("much", "", ""),
        ("", "", ""),
    ],
)
def test_numbers_are_echoed_where_they_can_be_misread(typed: str, english: str, german: str) -> None:
    assert (load_texts("en").echo_number(typed), load_texts("de").echo_number(typed)) == (english, german)


@pytest.mark.parametrize("text", ["007", "12", "1.5 l", "1.234.5", "", "v.5"])
def test_only_decimals_are_written_otherwise(text: str) -> None:
    assert load_texts("de").write_number(text) == text


def test_units_that_have_no_singular() -> None:
    english = load_texts("en")
    assert [english.cost(1, unit) for unit in ("EUR", "stress", "ms", "points")] == [
        "1 EUR",
        "1 stress",
        "1 ms",
        "1 point",
    ]


@pytest.mark.parametrize(("value", "german"), [(1, "1 Monat"), (3.5, "3,5 Monate"), (0, "0 Monate")])
def test_units_whose_singular_the_language_knows(value: float, german: str) -> None:
    assert load_texts("de").cost(value, "Monate") == german


def test_exact_costs_are_not_rounded() -> None:
    german = load_texts("de")
    assert german.exact_cost(3.125, "Monate") == "3,125 Monate"
    assert german.exact_cost(0.1 + 0.2, "Monate") == "0,3 Monate"
    assert german.exact_number(12000.0625) == "12.000,0625"


@pytest.mark.parametrize(
    ("chance", "english", "german"),
    [
        (0, "0%", "0\u202f%"),
        (1, "100%", "100\u202f%"),
        (0.00001, "<0.1%", "<\u202f0,1\u202f%"),
        (0.99999, ">99.9%", ">\u202f99,9\u202f%"),
        (0.0075, "0.75%", "0,75\u202f%"),
        (0.424, "42%", "42\u202f%"),
        (0.9949, "99.5%", "99,5\u202f%"),
    ],
)
def test_chances(chance: float, english: str, german: str) -> None:
    assert (load_texts("en").percent(chance), load_texts("de").percent(chance)) == (english, german)


@pytest.mark.parametrize(
    ("chance", "english", "german"),
    [
        (1, "every time", "jedes Mal"),
        (0.95, "95 times in 100", "in 95 von 100 Fällen"),
        (0.01, "1 time in 100", "in 1 von 100 Fällen"),
        (0.999, "999 times in 1000", "in 999 von 1000 Fällen"),
        (1 / 3, "about 33 times in 100", "in etwa 33 von 100 Fällen"),
        (0.00001, "less than 1 time in 100", "in weniger als 1 von 100 Fällen"),
        (0.9999, "about 99 times in 100", "in etwa 99 von 100 Fällen"),
    ],
)
def test_frequencies(chance: float, english: str, german: str) -> None:
    assert (load_texts("en").times(chance), load_texts("de").times(chance)) == (english, german)


def test_lists_and_quotes() -> None:
    english, german = load_texts("en"), load_texts("de")
    assert [english.join(list(words)) for words in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b and c"]
    assert german.join(["a", "b", "c"], last="or") == "a, b oder c"
    assert (english.quote("x"), german.quote("x")) == ("“x”", "„x“")


@pytest.mark.parametrize(
    ("words", "joined"),
    [
        ("ahorros|ingresos", "ahorros e ingresos"),
        ("casa|«Hijos»", "casa e «Hijos»"),
        ("agua|hielo", "agua y hielo"),
        ("agua|yeso", "agua y yeso"),
        ("edad|índice", "edad e índice"),
        ("a|b|ingresos", "a, b e ingresos"),
    ],
)
def test_what_follows_decides_how_and_is_written(words: str, joined: str) -> None:
    assert load_texts("es").join(words.split("|")) == joined


@pytest.mark.parametrize(
    ("words", "joined"),
    [("plata|oro", "plata u oro"), ("7|8", "7 u 8"), ("10|11", "10 u 11"), ("9|110", "9 o 110"), ("a|b", "a o b")],
)
def test_what_follows_decides_how_or_is_written(words: str, joined: str) -> None:
    assert load_texts("es").join(words.split("|"), last="or") == joined


@pytest.mark.parametrize(("language", "group"), [("en", ","), ("de", "."), ("es", None)])
def test_numbers_of_any_length_are_written(language: str, group: str | None) -> None:
    """Python turns no more than 4,300 digits into a number, and a form may have 60,000."""
    texts = load_texts(language)
    mark = group or texts("format.group")
    assert texts.localise("1234567.25", grouped_from=4).startswith(f"1{mark}234{mark}567")
    for digits in ("9" * 5000, "12" + "345" * 2000):
        told = texts.localise(digits)
        assert told.replace(mark, "") == digits
        assert texts.echo_number(digits).count(mark) == (len(digits) - 1) // 3


# ------------------------------------------------------------------- Which languages there are: those that have a file


def test_each_file_is_a_language() -> None:
    files = Path(safear.__file__).parent.joinpath("texts").glob("*.yaml")
    assert languages() == tuple(sorted(file.stem for file in files))
    assert {"de", "en", "es"} <= set(languages())
    assert "name: Español\n" in read_language("es")


def test_they_are_found_without_reading_them() -> None:
    """`safear recommend --help` names them and answers at once."""
    asked = "import sys; from safear.cli.options import LANGUAGE; print('yaml' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert answer.stdout == "False\n"


# ---------------- Mistakes in the words of each language: by code and values, in English where a language has no words


LOAN = sa.load_example("loan")
FOUND: list[Mistake] = [
    *person_mistakes(LOAN, {"savings": "ritch", "aeg": 3}),
    missing_given("age"),
    *(out_of_limits(Feature("term", "numeric", (), least=Decimal(6), most=Decimal(60)), Decimal(n)) for n in (5, 61)),
    *merge_terms(LOAN, sa.Terms.of(cost={"jump": 1, "find work": -1}, chance={"change job": 2}))[1],
]


def test_the_mistakes_of_applicants_have_codes() -> None:
    told = {(item.code, format_path(item.place.path)) for item in FOUND}
    assert {
        ("unknown_feature", "aeg"),
        ("missing", "age"),
        ("missing_given", "age"),
        ("too_low", "term"),
        ("too_high", "term"),
        ("unknown_level", "savings"),
        ("unknown_action", "actions.jump"),
        ("cost_out_of_range", "actions.find work.cost"),
        ("chance_out_of_range", "actions.change job.chance"),
    } <= told


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("item", FOUND, ids=lambda item: item.code)
def test_every_language_has_words_for_them(item: Mistake, language: str) -> None:
    texts = load_texts(language)
    assert f"mistake.{item.code}" in texts
    told = tell_mistake(item, texts)
    assert item.cause not in told
    assert item.code.startswith("missing") or any(texts.quote(str(value)) in told for value in item.values.values())


def test_words() -> None:
    item = mistake(("cost0",), "'x' is no cost", code="not_a_cost", value="x\u202e", most=1_000_000)
    assert tell_mistake(item, load_texts("en")) == (
        "“x\ufffd” is not a number from 0 to 1,000,000 with at most four decimals."
    )
    assert tell_mistake(item, load_texts("de")).startswith("„x\ufffd“ ist keine Zahl von 0 bis 1.000.000 mit")


def test_what_has_no_words_is_told_in_english() -> None:
    item = mistake(("goal", "threshold"), "2 is not between 0 and 1", "write 0.5", code="out_of_range", value=2)
    assert tell_mistake(item, load_texts("de")) == "goal.threshold: 2 is not between 0 and 1: write 0.5"
