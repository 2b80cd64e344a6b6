"""Where the person's forms are read and answered, for all routes of their page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse, Response

from safear.errors import ClassifierError, InputError, SafearError
from safear.recourse.teller import Teller
from safear.texts import Texts
from safear.web.asked import Asked, make_asked, read_form
from safear.web.error_pages import ErrorDesk, tell_failure
from safear.web.examples import drop_edited
from safear.web.forms import drop_stale, find_mistakes, name_form, translate
from safear.web.kept import make_ticket
from safear.web.onward import begin_anew
from safear.web.person_page import make_view, show_failure
from safear.web.service import Service
from safear.web.templating import respond_with
from safear.web.terms_form import reset_terms
from safear.web.uploads import read_upload
from safear.web.views import PersonView
from safear.web.work import Deadline, TooLateError, Workers

FORM_TYPE, UPLOAD_TYPE = "application/x-www-form-urlencoded", "multipart/form-data"
OUR_FAULT = (ClassifierError, TooLateError)


@dataclass(frozen=True, slots=True)
class PersonDesk:
    """Reads forms and answers them with a page."""

    service: Service
    workers: Workers
    errors: ErrorDesk

    def find_texts(self, asked: Asked) -> Texts:
        """The texts of the language that a form is in."""
        return self.errors.shell.find_texts(asked.text("language"))

    async def read(self, request: Request) -> Asked:
        """The form that was sent, with what it asks to be changed in itself."""
        desk, asked = self.service.desk, await _read(request)
        asked = drop_edited(desk, drop_stale(desk, asked))
        match asked.wish:
            case "clear":
                return Asked({"language": asked.text("language")}, wish="begin")
            case "fresh":
                return begin_anew(asked)
            case "reset":
                return reset_terms(desk.problem, asked)
            case "speak":
                into = self.errors.shell.find_texts(asked.detail)
                return translate(desk, asked, texts=self.find_texts(asked), into=into)
        return asked

    async def answer(self, asked: Asked) -> HTMLResponse:
        """The page for a form."""
        asked, texts = give_ticket(asked), self.find_texts(asked)
        try:
            view = await self.workers.run(lambda deadline: make_view(self.service, asked, texts, deadline=deadline))
        except OUR_FAULT as error:
            return self.fail(asked, texts, error)
        return self.show(asked, texts, view)

    async def make(self, asked: Asked, make: Callable[[Texts, Deadline], Response | None]) -> Response:
        """Something to keep that is made for a form; if nothing can be made, the page, which tells why.

        All of it is made by a worker, within its time: whoever else asks meanwhile need not wait.
        """
        texts = self.find_texts(asked)
        if find_mistakes(self.service.desk, asked, texts=texts):
            return await self.answer(replace(asked, wish="menu"))
        try:
            made = await self.workers.run(lambda deadline: make(texts, deadline))
        except OUR_FAULT as error:
            return self.fail(asked, texts, error)
        except InputError:
            made = None
        return await self.answer(asked) if made is None else made

    def fail(self, asked: Asked, texts: Texts, error: SafearError) -> HTMLResponse:
        """The page with what went wrong here: what was filled in is not lost."""
        details = self.errors.read(error)
        view = show_failure(self.service, asked, texts, tell_failure(details, texts))
        return self.show(asked, texts, view, status=details.status, headers=details.headers)

    def show(self, asked: Asked, texts: Texts, view: PersonView, **response: Any) -> HTMLResponse:
        """The page with what is shown on it."""
        problem, tell = self.service.problem, Teller(texts).about(self.service.problem)
        return respond_with(
            "person.html.jinja",
            **response,
            **self.errors.shell.speak(texts),
            view=view,
            ticket=give_ticket(asked).text("ticket"),
            form_name=name_form(self.service.desk),
            unit=tell.text(problem.cost_unit),
            provider=tell.provider(problem),
        )


def give_ticket(asked: Asked) -> Asked:
    """The form with a ticket, under which what is solved for it is kept."""
    return replace(asked, fields={**asked.fields, "ticket": make_ticket(asked.text("ticket"))})


async def _read(request: Request) -> Asked:
    header = request.headers.get("content-type", "")
    kind = header.partition(";")[0].strip().lower()
    if kind not in {FORM_TYPE, UPLOAD_TYPE}:
        raise HTTPException(415, f"send the form as {FORM_TYPE}")
    try:
        body = await request.body()
        return read_form(body) if kind == FORM_TYPE else make_asked(read_upload(header, body))
    except ValueError:
        raise HTTPException(400, "this form is not from this page") from None
