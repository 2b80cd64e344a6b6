"""What people take with them, and bring along again: the letter, a plan, their answers. Nothing of it stays here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from safear.errors import InputError
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller
from safear.reports import report_figures, report_menu
from safear.texts import Texts
from safear.web.answers import FILE, open_saved, write_answers
from safear.web.person_desk import OUR_FAULT, PersonDesk, give_ticket
from safear.web.person_page import answer_form, choose_plan, make_view, refuse_file, save_chosen
from safear.web.work import Deadline, TooLateError

REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"  # it has its style in it


@dataclass(frozen=True, slots=True)
class Letter:
    """What a letter and its figures are made from."""

    menu: Menu
    chosen: Offer | None
    language: str
    dated: date


def add_keeping(pages: APIRouter, desk: PersonDesk) -> None:
    """The routes for it."""
    service = desk.service

    async def keep(request: Request, respond: Callable[[Letter], Response]) -> Response:
        asked = await desk.read(request)

        def make(texts: Texts, deadline: Deadline) -> Response:
            menu = answer_form(service, asked, texts, deadline=deadline)
            today = date.today()  # noqa: DTZ011  # the provider's day
            chosen = choose_plan(menu, asked, Teller(texts).about(menu.problem))
            deadline.check()
            return respond(Letter(menu, chosen, texts.language, today))

        return await desk.make(asked, make)

    @pages.post("/report")
    async def report(request: Request) -> Response:
        return await keep(request, _write_letter)

    @pages.post("/figures")
    async def figures(request: Request) -> Response:
        return await keep(request, _write_figures)

    @pages.post("/plan")
    async def plan(request: Request) -> Response:
        asked = await desk.read(request)

        def make(texts: Texts, deadline: Deadline) -> Response | None:
            saved = save_chosen(service, asked, texts, deadline=deadline)
            return None if saved is None else _give(saved.text, "plan.json")

        return await desk.make(asked, make)

    @pages.post("/answers")
    async def answers(request: Request) -> Response:
        asked = await desk.read(request)
        return _give(write_answers(service.desk, asked, texts=desk.find_texts(asked)), "answers.json")

    @pages.post("/open")
    async def open_again(request: Request) -> Response:
        sent = await desk.read(request)
        rest = {name: text for name, text in sent.fields.items() if name != FILE}
        asked, texts = give_ticket(replace(sent, fields=rest, wish="again")), desk.find_texts(sent)

        def work(deadline: Deadline) -> Response:
            try:
                opened = open_saved(service.desk, asked, sent.fields.get(FILE, ""), texts=texts)
            except InputError as error:
                return desk.show(asked, texts, refuse_file(service, asked, texts, error))
            try:
                view = make_view(service, opened.asked, texts, deadline=deadline)
            except OUR_FAULT as error:
                return desk.fail(opened.asked, texts, error)
            return desk.show(opened.asked, texts, replace(view, notices=(*opened.notices, *view.notices)))

        try:
            return await desk.workers.run(work)
        except TooLateError as error:
            return desk.fail(asked, texts, error)


def _write_letter(letter: Letter) -> Response:
    html = report_menu(letter.menu, letter.chosen, language=letter.language, dated=letter.dated).html
    return HTMLResponse(html, headers=_attach("letter.html") | {"Content-Security-Policy": REPORT_POLICY})


def _write_figures(letter: Letter) -> Response:
    record = report_figures(letter.menu, letter.chosen, dated=letter.dated)
    return _give(record.model_dump_json(indent=2), "figures.json")


def _attach(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename={name}"}


def _give(text: str, name: str) -> Response:
    return Response(text, media_type="application/json", headers=_attach(name))
