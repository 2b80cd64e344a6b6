"""The REST API: what it gives, and how it tells of mistakes."""

from __future__ import annotations

import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pandas as pd
import pytest

import safear as sa
from promises.web.conftest import APPLICANT, CREDIT, Site, grant, serve, wait_for_audit
from safear.cli.main import cli
from small_problems import guessed_loan

MENU, PLAN, STEP = "/api/v1/menu", "/api/v1/plan", "/api/v1/plan-step"


def post(site: Site, path: str, **content: Any) -> httpx.Response:
    with site.client() as client:
        return client.post(path, json=content)


@pytest.mark.parametrize("level", [0, 0.5, 1])
def test_levels_are_those_of_the_library(loan: Site, level: float) -> None:
    answer = post(loan, MENU, person=APPLICANT, level=level)
    assert answer.status_code == 200
    assert answer.json() == plain(sa.recommend(loan.service.problem, person=APPLICANT, level=level))


@pytest.mark.parametrize("level", [-0.1, 1.1, "0.5", True])
def test_other_levels_are_refused(loan: Site, level: Any) -> None:
    assert post(loan, MENU, person=APPLICANT, level=level).status_code == 422


def plain(menu: sa.Menu) -> Any:
    return json.loads(sa.reports.report_figures(menu).menu.model_dump_json())


def test_health(loan: Site) -> None:
    with loan.client() as client:
        assert client.get("/api/v1/health").json() == {
            "status": "ok",
            "version": sa.__version__,
            "problem": "Loan approval",
        }


def test_the_problem_can_be_read_back(loan: Site) -> None:
    with loan.client() as client:
        answer = client.get("/api/v1/problem").json()
    assert answer["people"] == ["applicant"]
    assert sa.parse_problem(json.dumps(answer["document"]), "loan.json") == loan.service.problem


@pytest.mark.parametrize(("savings", "decision"), [("little", "unfavourable"), ("rich", "favourable")])
def test_decide(loan: Site, savings: str, decision: str) -> None:
    person = APPLICANT | {"savings": savings}
    assert post(loan, "/api/v1/decide", person=person).json() == {
        "decision": decision,
        "person": person,
    }


def test_robust_plans_on_request() -> None:
    problem = guessed_loan()
    with serve(problem) as site:
        for robust in (True, False):
            found = post(site, MENU, person=APPLICANT, robust=robust).json()
            assert found == plain(sa.recommend(problem, person=APPLICANT, robust=robust))
            one = post(site, PLAN, person=APPLICANT, robust=robust, objective="cvar:0.95").json()
            assert [plan["robust"] for plan in one["plans"]] == [robust]
        assert post(site, MENU, person=APPLICANT, robust="yes").status_code == 422
        assert post(site, PLAN, person=APPLICANT, robust=True, objective="mean-std:1").status_code == 422


def test_a_menu_is_what_the_library_says(loan: Site) -> None:
    answer = post(loan, MENU, person=APPLICANT).json()
    assert answer == plain(sa.recommend(loan.service.problem))


def test_raw_numbers_and_a_forest(german: Site) -> None:
    problem = german.service.problem
    person = problem.people["row 972"]
    answer = post(german, MENU, person=person).json()
    assert answer == plain(sa.recommend(problem, german.service.classifier, person))


def test_personal_terms(loan: Site) -> None:
    terms = {"cost": {"study part-time": 5}, "chance": {"own a house": 0.6}, "forbid": ["change job"]}
    answer = post(loan, MENU, person=APPLICANT, terms=terms).json()
    own = sa.Terms.of(cost={"study part-time": 5}, chance={"own a house": 0.6}, forbid=["change job"])
    assert answer["plans"] == plain(sa.recommend(loan.service.problem, terms=own))["plans"]


@pytest.mark.parametrize("path", [MENU, PLAN])
def test_nothing_to_do_and_no_way(loan: Site, path: str) -> None:
    done = post(loan, path, person=APPLICANT | {"savings": "rich"}).json()
    assert (done["decision"], done["plans"], done["no_recourse"]) == ("favourable", [], None)
    every = [action.name for action in loan.service.problem.actions]
    stuck = post(loan, path, person=APPLICANT, terms={"forbid": every}).json()
    assert (stuck["decision"], stuck["plans"]) == ("unfavourable", [])
    assert stuck["no_recourse"]["code"] == "no_action"


def test_every_plan_of_the_frontier_can_be_had(german: Site) -> None:
    person = dict(german.service.problem.people["row 44"])
    frontier = post(german, MENU, person=person).json()["frontier"]
    assert len(frontier) > 2
    for point in frontier:
        answer = post(german, PLAN, person=person, objective=point["objective"]).json()
        (plan,) = answer["plans"]
        found = plan["success"], plan["all_runs"]["mean"], plan["all_runs"]["cvar"]["0.95"], plan["first_action"]
        assert found == (point["success"], point["mean"], point["cvar"], point["first_action"])


def test_a_walk(loan: Site) -> None:
    begin = post(loan, STEP, person=APPLICANT, objective="mean").json()
    assert (begin["kind"], begin["action"], begin["spent"], begin["steps_left"]) == ("step", "change job", 0, 24)
    assert [(end["outcome"], end["works"], end["label"]) for end in begin["endings"]] == [
        (0, True, "savings becomes rich"),
        (1, False, "you lose your job"),
    ]
    failed = post(loan, STEP, person=APPLICANT, objective="mean", outcomes=[1]).json()
    assert (failed["action"], failed["spent"], failed["person"]["job"]) == ("find work", 1.0, "unemployed")
    done = post(loan, STEP, person=APPLICANT, objective="mean", outcomes=[0]).json()
    assert (done["kind"], done["action"], done["ahead"]) == ("goal", None, {"success": 1.0, "mean": 0.0, "cvar": 0.0})


def problem_of(answer: httpx.Response, status: int) -> dict[str, Any]:
    """The problem details of a refusal."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    details: dict[str, Any] = answer.json()
    assert details["status"] == status
    assert set(details) == {"type", "title", "status", "detail", "mistakes", "reference"}
    return details


def test_all_mistakes_are_told_with_place_cause_and_remedy(loan: Site) -> None:
    person = {"aeg" if name == "age" else name: level for name, level in APPLICANT.items()} | {"savings": "ritch"}
    details = problem_of(post(loan, MENU, person=person), 422)
    assert details["type"] == "urn:safear:problem:person"
    assert details["mistakes"] == [
        {
            "code": "unknown_feature",
            "place": "aeg",
            "cause": "there is no feature 'aeg'",
            "remedy": "did you mean 'age'?",
        },
        {
            "code": "missing",
            "place": "age",
            "cause": "'age' is missing",
            "remedy": "one of: student, young, adult, senior",
        },
        {
            "code": "unknown_level",
            "place": "savings",
            "cause": "'ritch' is not a level of 'savings'",
            "remedy": "did you mean 'rich'?",
        },
    ]


def test_mistakes_in_terms_and_objectives(loan: Site) -> None:
    details = problem_of(post(loan, MENU, person=APPLICANT, terms={"forbid": ["chagne job"]}), 422)
    assert details["mistakes"] == [
        {
            "code": "unknown_action",
            "place": "forbid[0]",
            "cause": "the problem has no action 'chagne job'",
            "remedy": "did you mean 'change job'?",
        }
    ]
    details = problem_of(post(loan, PLAN, person=APPLICANT, objective="mode"), 422)
    assert details["type"] == "urn:safear:problem:objective"


def test_the_shape_is_checked(loan: Site) -> None:
    details = problem_of(post(loan, MENU, person=APPLICANT, terms={"cost": {"change job": -1}}, more=1), 422)
    assert [item["place"] for item in details["mistakes"]] == ["terms.cost.change job", "more"]
    for wrong in (True, "1", 0.00001, -1, 1e300):
        details = problem_of(post(loan, MENU, person=APPLICANT, terms={"cost": {"change job": wrong}}), 422)
        assert [item["place"] for item in details["mistakes"]] == ["terms.cost.change job"]
    with loan.client() as client:
        problem_of(client.post(MENU, content=b"{", headers={"content-type": "application/json"}), 422)
        problem_of(client.get("/api/v1/nothing"), 404)
        answer = client.get(MENU)
        problem_of(answer, 405)
        assert answer.headers["allow"] == "POST"


def test_walks_that_cannot_be(loan: Site) -> None:
    details = problem_of(post(loan, STEP, person=APPLICANT, objective="mean", outcomes=[7]), 409)
    assert details["mistakes"] == [
        {
            "code": "impossible_outcome",
            "place": "outcomes[0]",
            "cause": "this step cannot end in outcome 7",
            "remedy": "possible: 0 (works: savings becomes rich), 1 (fails: you lose your job)",
        }
    ]
    problem_of(post(loan, STEP, person=APPLICANT, objective="mean", outcomes=[0, 0]), 409)
    every = [action.name for action in loan.service.problem.actions]
    nothing: list[tuple[dict[str, Any], str]] = [
        ({"person": APPLICANT | {"savings": "rich"}}, "favourable"),
        ({"person": APPLICANT, "terms": {"forbid": every}}, "no_action"),
    ]
    for asked, code in nothing:
        assert [item["code"] for item in problem_of(post(loan, STEP, **asked), 409)["mistakes"]] == [code]


def test_a_classifier_that_fails_is_not_the_fault_of_who_asks(everything_logged: list[str]) -> None:
    """People learn that there is no answer; the operator, what failed and where. The model's words reach neither."""

    def broken(_: object) -> bool:
        raise OSError("s3cret about young")

    problem = sa.load_example("loan")
    with serve(problem, broken, forgetful=True) as site:
        details = problem_of(post(site, "/api/v1/decide", person=APPLICANT), 502)
    assert details["detail"] == "the model that decides gives no answer; try again later, or ask the provider"
    assert [item["code"] for item in details["mistakes"]] == ["classifier_failed"]
    (line,) = [line for line in everything_logged if "the classifier" in line]
    told = "the classifier gives no answer: classifier_failed, classifier, OSError < adapters.py:"
    assert line.startswith(f"{details['reference']}: {told}")
    assert "s3cret" not in str(details) + line


def test_where_a_model_is_and_what_it_says_is_the_operators_business(everything_logged: list[str]) -> None:
    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(401)
            self.end_headers()
            self.wfile.write(b"wrong s3cret")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    problem = sa.load_example("loan")
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        address = f"127.0.0.1:{server.server_address[1]}/hidden"
        model = sa.load_classifier(f"http://{address}?key=s3cret", problem)
        with serve(problem, model, forgetful=True) as site:
            details = problem_of(post(site, "/api/v1/decide", person=APPLICANT), 502)
        server.shutdown()
        thread.join()
    assert not re.search("hidden|s3cret|401", str(details))
    told = f"the classifier gives no answer: refused, http://{address}, status 401"
    assert f"{details['reference']}: {told}" in everything_logged


def test_a_model_that_hangs_keeps_others_waiting_for_a_while_only() -> None:
    released = threading.Event()

    def answer(frame: pd.DataFrame) -> Any:
        if (frame["age"] == "senior").any():
            released.wait(60)
        return frame["savings"] == "rich"

    problem = sa.load_example("loan")
    model, old = sa.as_classifier(answer, problem, time_limit=300), APPLICANT | {"age": "senior"}
    with serve(problem, model, forgetful=True, seconds=3) as site, ThreadPoolExecutor(2) as threads:
        hanging = threads.submit(post, site, "/api/v1/decide", person=old)
        time.sleep(0.3)
        other = post(site, "/api/v1/decide", person=APPLICANT)
        details = problem_of(hanging.result(), 503)
        released.set()
    assert details["type"] == "urn:safear:problem:classifier-late"
    assert hanging.result().headers["retry-after"] == "5"
    assert other.status_code == 200
    assert details["detail"].startswith("the model that decides does not answer in time; ")
    assert [item["code"] for item in details["mistakes"]] == ["timed_out"]


def test_an_answer_that_takes_too_long_is_not_waited_for() -> None:
    with serve(sa.load_example("loan"), seconds=1e-9) as site:
        answer = post(site, MENU, person=APPLICANT)
        details = problem_of(answer, 503)
        assert details["type"] == "urn:safear:problem:too-late"
        assert answer.headers["retry-after"] == "5"


def test_audit(audited: Site, loan: Site, capsys: pytest.CaptureFixture[str]) -> None:
    with audited.client() as client:
        [answer] = client.get("/api/v1/audit").json()
    people = audited.service.people
    assert people is not None
    found = sa.audit(audited.service.problem, audited.service.classifier, people, groups=["gender"])
    with pytest.raises(SystemExit):
        cli(["audit", "german", "--group", "gender", "--json"])
    assert answer == json.loads(capsys.readouterr().out)
    assert answer["people"] == 1000
    for row in answer["groups"]["gender"]["table"]:
        assert row["cvar"] == found.table("gender").loc[row["group"], "cvar"]
    with loan.client() as client:
        assert problem_of(client.get("/api/v1/audit"), 404)["type"] == "urn:safear:problem:no-audit"


def fail_for_the_old(frame: pd.DataFrame) -> Any:
    if (frame["age"] > 90).any():
        raise RuntimeError("no model today")
    return grant(frame)


@pytest.mark.parametrize(
    "age, column, status, detail",
    [
        (99, "job", 502, "the audit failed: the model that decides gives no answer; try again later"),
        (33, "shoe size", 500, "the audit failed: shoe size: there is no column 'shoe size'"),
    ],
)
def test_an_audit_that_failed_is_not_one_of_nobody(age: int, column: str, status: int, detail: str) -> None:
    people = pd.DataFrame([CREDIT["people"]["Ada"] | {"age": age}])
    with (
        serve(sa.parse_problem(CREDIT), fail_for_the_old, people=people, columns=[column]) as site,
        site.client() as client,
    ):
        details = problem_of(wait_for_audit(client), status)
        page = client.get("/analyst/audit.json", headers={"accept": "text/html"})
    assert details["type"] == "urn:safear:problem:audit-failed"
    assert details["detail"].startswith(detail)
    assert "no model today" not in str(details)
    assert page.status_code == status
    assert "The audit failed" in page.text


def test_fifty_people_at_once_get_their_own_answers(german: Site) -> None:
    """Each has another person and other terms; nobody gets what another one asked for."""
    data = sa.datasets.load("german")
    rejected = [dict(row) for _, row in data.levels.sample(150, random_state=3).iterrows()]
    asked: list[dict[str, Any]] = [
        {"person": {str(name): level for name, level in person.items()}, "terms": {"cost": {"own a house": 1 + n / 10}}}
        for n, person in enumerate(rejected[:50])
    ]
    with german.client() as client, ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda content: client.post(MENU, json=content), asked))
    assert {answer.status_code for answer in answers} == {200}
    for content, answer in zip(asked, answers, strict=True):
        assert answer.json()["person"] == content["person"]
    for content, answer in list(zip(asked, answers, strict=True))[::5]:
        own = sa.Terms.of(cost=content["terms"]["cost"])
        alone = sa.recommend(data.problem, german.service.classifier, content["person"], terms=own)
        assert answer.json()["plans"] == plain(alone)["plans"]


@pytest.mark.parametrize(
    "body",
    [r'{"person":{"age":"\ud800"}}', r'{"person":{"\ud800":"young"}}', r'{"person":{},"terms":{"forbid":["\ud800"]}}'],
)
def test_half_a_character_is_a_mistake_like_another(body: str, loan: Site) -> None:
    with loan.client() as client:
        answer = client.post(MENU, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["mistakes"]
