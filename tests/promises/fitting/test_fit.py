"""From a file and a log to a table and a new file."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import safear as sa
from logs import PROBLEM, TEXT, log_of
from safear import load_problem, parse_problem
from safear.errors import AttemptsError, InputError, ProblemError
from strategies import FEWER, problems

LOG = log_of(("learn", 31, 40), ("learn", 1, 2, {"skill": "skilled"}), ("save", 3, 4)).assign(cost=2)
FITTED = (
    TEXT.replace("{value: 1.5, source: guess}", "{value: 2, source: 'data, n=42'}")
    .replace("skilled: 0.8 ", "skilled: {worked: 31, tried: 40} ")
    .replace(
        "{value: [0.5, 0.95], source: guess}", "{value: [0.0125, 0.7619, 0.9875], source: 'data 1/2, pooled 32/42'}"
    )
    .replace("save: {cost: 1,", "save: {cost: {value: 2, source: 'data, n=4'}, chance: {worked: 3, tried: 4},")
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "loan.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_the_new_file_differs_in_what_was_fitted_alone(file: Path, tmp_path: Path) -> None:
    fit = sa.fit_problem(file, LOG)
    assert fit.text == FITTED
    fit.save(tmp_path / "new.yaml")
    assert load_problem(tmp_path / "new.yaml") == fit.problem
    assert fit.original == PROBLEM
    assert file.read_text(encoding="utf-8") == TEXT


def test_a_file_of_attempts(file: Path, tmp_path: Path) -> None:
    LOG.to_csv(tmp_path / "log.csv", index=False)
    assert sa.fit_problem(str(file), str(tmp_path / "log.csv")).text == FITTED


def test_a_problem_without_a_file() -> None:
    fit = sa.fit_problem(PROBLEM, LOG)
    assert fit.problem == parse_problem(FITTED)
    assert fit.text == yaml.safe_dump(sa.dump_problem(fit.problem), sort_keys=False, allow_unicode=True, width=120)
    assert "rewritten" not in [notice.code for notice in fit.notices]


def test_a_json_file(tmp_path: Path) -> None:
    path = tmp_path / "loan.json"
    path.write_text(json.dumps(sa.dump_problem(PROBLEM), indent=2), encoding="utf-8")
    fit = sa.fit_problem(path, log_of(("change job", 3, 4)))
    assert json.loads(fit.text)["actions"]["change job"]["outcomes"][0]["chance"] == {"worked": 3, "tried": 4}
    assert [notice.code for notice in fit.notices if notice.code == "rewritten"] == []


def test_what_is_said_in_one_place_for_two_is_written_anew(tmp_path: Path) -> None:
    """An alias: what is fitted for `learn` must not become the cost of `save`."""
    path = tmp_path / "loan.yaml"
    text = TEXT.replace("cost: {value: 1.5, source: guess}", "cost: &usual 1.5").replace("{cost: 1,", "{cost: *usual,")
    path.write_text(text, encoding="utf-8")
    fit = sa.fit_problem(path, log_of(("learn", 3, 4)).assign(cost=7))
    assert fit.notices[-1].code == "rewritten"
    assert parse_problem(fit.text) == fit.problem
    assert sa.dump_problem(fit.problem)["actions"]["save"]["cost"] == 1.5
    assert "#" not in fit.text


@pytest.mark.parametrize(
    "old, new",
    [
        ("save: {cost: 1, outcomes: [{change: {savings: +1}}]}", None),
        ("save: {cost: 1, outcomes: [{chance: 1, change: {savings: +1}}]}", None),
        (
            "save:\n    cost: 1\n    outcomes: # all\n    - change: {savings: +1} # x\n      label: it works # y",
            (
                "save:\n    cost: 1\n    outcomes: # all\n    - chance: {worked: 3, tried: 4}\n"
                "      change: {savings: +1} # x\n      label: it works # y\n    - {}"
            ),
        ),
    ],
)
def test_a_single_outcome_in_the_long_form_gets_another(old: str, new: str | None, tmp_path: Path) -> None:
    new = new or "save: {cost: 1, outcomes: [{chance: {worked: 3, tried: 4}, change: {savings: +1}}, {}]}"
    path = tmp_path / "loan.yaml"
    path.write_text(TEXT.replace("save: {cost: 1, change: {savings: +1}}", old), encoding="utf-8")
    fit = sa.fit_problem(path, log_of(("save", 3, 4)))
    assert fit.text == TEXT.replace("save: {cost: 1, change: {savings: +1}}", new)
    (outcome, _) = sa.dump_problem(fit.problem)["actions"]["save"]["outcomes"]
    assert outcome["chance"] == {"worked": 3, "tried": 4}


def test_how_many_tries_are_enough() -> None:
    fitted = sa.dump_problem(sa.fit_problem(PROBLEM, LOG, min_tries=2).problem)
    assert fitted["actions"]["learn"]["outcomes"][0]["chance"]["skill"]["manager"] == {"worked": 1, "tried": 2}
    with pytest.raises(InputError, match="min_tries: 0 is below 1"):
        sa.fit_problem(PROBLEM, LOG, min_tries=0)


def test_the_confidence_is_that_of_the_problem() -> None:
    text = TEXT.replace("horizon: 12", "horizon: 12\nconfidence: 0.5")
    fit = sa.fit_problem(parse_problem(text), log_of(("save", 3, 4)))
    counted = text.replace("save: {cost: 1,", "save: {cost: 1, chance: {worked: 3, tried: 4},")
    assert fit.problem == parse_problem(counted) != parse_problem(counted.replace("confidence: 0.5", "confidence: 0.9"))


WHOLE = """\
Loan: 46 attempts
action  number                  before                    after               n
learn   cost                    1.5 months (guess)        2 months            42
learn   chance, skill: skilled  80%                       78% (62% to 89%)    40
learn   chance, skill: manager  72% (50% to 95%) (guess)  76% (1.2% to 99%)   2, pooled
save    cost                    1 month                   2 months            4
save    chance                  100%                      75% (19% to 99.4%)  4
note: learn, chance, skill: manager: too few tries (1 of 2 worked); the value is that of all tries, the interval \
that of these
note: change job: never tried; left as it is
note: hope: never tried; left as it is
note: gamble: never tried; left as it is
note: only those who tried are in the log; others may do better or worse"""


def test_the_whole_answer() -> None:
    fit = sa.fit_problem(PROBLEM, LOG)
    assert str(fit) == WHOLE
    page = fit._repr_html_()
    assert page.startswith("<p>Loan: 46 attempts</p><table><thead><tr><th>action</th>")
    assert "<td>78% (62% to 89%)</td>" in page


@st.composite
def logs(draw: st.DrawFn, problem: sa.Problem) -> pd.DataFrame:
    """Attempts at any actions, in states of which some features are known."""
    columns = draw(st.sets(st.sampled_from([feature.name for feature in problem.features])))
    row = st.fixed_dictionaries(
        {
            "action": st.sampled_from(list(problem.action_by_name)),
            "worked": st.booleans(),
            "cost": st.sampled_from([0, 1, 2.5]),
        }
        | {name: st.sampled_from([*problem.feature_by_name[name].levels, None]) for name in columns}
    )
    return pd.DataFrame(draw(st.lists(row, min_size=1, max_size=12)), dtype=object)


@FEWER
@given(problems(), st.data())
def test_any_problem_and_any_log(document: dict[str, Any], data: st.DataObject) -> None:
    """The new text says just what was fitted, in YAML of any style and in JSON; what was not tried stays."""
    problem = parse_problem(document)
    log = data.draw(logs(problem))
    flow = data.draw(st.sampled_from([True, False, None]))
    with TemporaryDirectory() as folder:
        path = Path(folder, data.draw(st.sampled_from(["problem.yaml", "problem.json"])))
        text = yaml.safe_dump(document, sort_keys=False, default_flow_style=flow, allow_unicode=True)
        path.write_text(json.dumps(document) if path.suffix == ".json" else text, encoding="utf-8")
        fit = sa.fit_problem(path, log, min_tries=data.draw(st.integers(1, 4)))
        assert parse_problem(fit.text, path.name) == fit.problem
    assert sa.check_problem(fit.problem) == []
    for action in problem.actions:
        if action.name not in set(log["action"]):
            assert fit.problem.action_by_name[action.name] == action
    assert "&id" in text or "rewritten" not in [notice.code for notice in fit.notices]
    assert "{" not in "".join(line for line in str(fit).splitlines() if line.startswith("note: "))


def test_wrong_problems_and_logs(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="no such file"):
        sa.fit_problem(tmp_path / "none.yaml", LOG)
    with pytest.raises(AttemptsError, match="no such file"):
        sa.fit_problem(file, tmp_path / "none.csv")
    with pytest.raises(ProblemError, match="is not a problem"):
        sa.fit_problem({"title": "x"}, LOG)  # type: ignore[arg-type]  # on purpose
