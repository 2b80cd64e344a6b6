"""What all pictures have in common: languages, headings, names that would break them, the same bytes each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import safear as sa
from audit_examples import make_audit, make_nasty_audit
from drawings import SVG, check_inside, check_texts_apart, described, read, texts_of
from drawn_menus import NASTY, learning_curve, menu_of, nasty
from safear.plots import Picture, cdf, disparity, distribution, dots, frontier, learning_curves, tornado, traces, tree
from spoken import LANGUAGES

Draw = Callable[..., Picture]
LEAST_LETTERS = 13.0  # in pixels


def draw_learning(_: object, **said: Any) -> Picture:
    return learning_curves(dict.fromkeys(["mean-std:0", "mean-std:1"], learning_curve()), unit="months", **said)


def draw_groups(_: object, **said: Any) -> Picture:
    return disparity(make_audit(), "town", **said)


@cache
def examined(menu: sa.Menu) -> Any:
    return sa.sensitivity(menu.problem, plan=menu[-1].code, tolerance=0.05)[0]


OF_MENUS: dict[str, Draw] = {"traces": traces, "distribution": distribution, "cdf": cdf, "frontier": frontier}
OF_OFFERS: dict[str, Draw] = {
    "dots": lambda menu, **said: dots(list(menu)[-1], **said),
    "tree": lambda menu, **said: tree(list(menu)[-1], **said),
    "tornado": lambda menu, **said: tornado(examined(menu), **said),
}
PICTURES = OF_MENUS | OF_OFFERS | {"disparity": draw_groups, "learning": draw_learning}
KINDS = list(PICTURES)


def test_only_pictures_are_exported() -> None:
    pictures = {"cdf", "disparity", "distribution", "dots", "frontier", "learning_curves", "tornado", "traces", "tree"}
    assert set(dir(sa.plots)) == {"Picture", *pictures}
    assert all(f"    {name} " in (sa.plots.__doc__ or "") for name in pictures)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["loan", "health-insurance", "craft", "guesses"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_language_has_room(kind: str, name: str, language: str) -> None:
    if (kind, name) == ("tornado", "craft"):
        pytest.skip("what a plan of 40 steps hangs on takes minutes to find")
    picture = PICTURES[kind](menu_of(name), language=language)
    check_inside(picture.svg)
    check_texts_apart(picture.svg)
    check_letters(picture.svg)
    if name != "craft":  # where nothing has a long name, nothing is cut off
        assert not [text for text in texts_of(picture.svg) if text.endswith("…")]


def check_letters(svg: str) -> None:
    """All letters can be read at the width that the picture has; no page shows it at less (`tests/promises/web`)."""
    root = read(svg)
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert not [node for node in root.iter() if node.get("transform")]
    sizes = [float(node.get("font-size", "inf")) for node in root.iter()]
    texts = [node for node in root.iter(f"{SVG}text") if node.get("font-size") is None]
    assert min(sizes) >= LEAST_LETTERS
    assert all(span.get("font-size") for node in texts for span in node.findall(f"{SVG}tspan") or [node])


def test_letters_do_not_shrink_where_there_are_many() -> None:
    many = dict.fromkeys((f"curve {number}" for number in range(40)), learning_curve())
    for picture in (cdf(list(menu_of("craft").frontier) * 3), learning_curves(many, unit="months")):
        check_letters(picture.svg)
        check_inside(picture.svg)
        check_texts_apart(picture.svg)


@pytest.mark.parametrize("kind", KINDS)
def test_other_languages_say_other_words_of_the_same_figures(kind: str) -> None:
    english, german = (PICTURES[kind](menu_of("loan"), language=language) for language in ("en", "de"))
    assert english.svg == PICTURES[kind](menu_of("loan")).svg != german.svg
    assert described(english.svg) != described(german.svg)
    for name, rows in english.tables.items():
        for one, other in zip(rows, german.tables[name], strict=True):
            assert {key for key in one if one[key] != other[key]} <= {
                "name",
                "first_action",
                "action",
                "unit",
                "sentence",
                "situation",
                "outcome",
                "text",
            }
    assert not {"average", "chance", "cost in months", "not in time", "mean of everybody"} & set(texts_of(german.svg))
    with pytest.raises(sa.InputError, match=r"there are no texts in the language 'xx'"):
        PICTURES[kind](menu_of("loan"), language="xx")


@pytest.mark.parametrize("kind", KINDS)
def test_pages_have_their_own_headings(kind: str) -> None:
    whole, bare = (PICTURES[kind](menu_of("loan"), heading=heading, title="My title") for heading in (True, False))
    check_inside(bare.svg)
    check_texts_apart(bare.svg)
    assert "My title" in texts_of(whole.svg)
    assert "My title" not in texts_of(bare.svg)
    assert set(texts_of(bare.svg)) < set(texts_of(whole.svg))
    for picture in (whole, bare):  # screen readers are told in either case
        assert read(picture.svg).findtext(f"{SVG}title") == "My title"
    heights = [float(read(picture.svg).get("height", "")) for picture in (whole, bare)]
    assert heights[0] > heights[1] + 20
    assert bare.tables == whole.tables


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_bytes_each_time(kind: str) -> None:
    again = sa.recommend(sa.load_example("loan"))
    assert PICTURES[kind](menu_of("loan")).svg == PICTURES[kind](again).svg


@pytest.mark.parametrize("kind", ["traces", "distribution", "cdf", "dots", "tree"])
def test_names_are_escaped(kind: str) -> None:
    picture = PICTURES[kind](nasty(), title=NASTY * 3)
    check_inside(picture.svg)
    check_texts_apart(picture.svg)
    assert "a <b>" not in picture.svg
    title = read(picture.svg).findtext(f"{SVG}title") or ""
    assert title.startswith('a <b> & "c" \ufffd\ufffd\ufffd with a very long name')
    check_inside(disparity(make_nasty_audit(), title=NASTY).svg)


@pytest.mark.parametrize("kind", OF_MENUS)
def test_nothing_to_draw_is_refused(kind: str) -> None:
    draw, menu = OF_MENUS[kind], menu_of("loan")
    accepted = replace(menu.case, decision=replace(menu.case.decision, favourable=True))
    empty: list[tuple[sa.Menu | Sequence[sa.Offer], str]] = [
        (replace(menu, offers=()), "the menu is empty\n    give at least one plan"),
        (replace(menu, offers=(), case=accepted), "the decision is already favourable"),
    ]
    for offers, cause in empty:
        with pytest.raises(sa.InputError) as caught:
            draw(offers)
        assert str(caught.value) == f"there is no plan to draw: {cause}"
    if kind != "frontier":
        with pytest.raises(sa.InputError, match=r"^the plans have different cost units: 'months', 'quarters'"):
            draw([*menu, *menu_of("health-insurance")])
