"""Audits of raw records with real models: the rejected are those whom the model rejects, from whatever file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import safear as sa
from safear import audit
from safear.errors import PersonError
from trained_models import MODELS, applications, ask_directly, trained

PROBLEM = sa.parse_problem(
    {
        "safear": 1,
        "title": "a test",
        "horizon": 2,
        "features": {
            "purpose": {"kind": "nominal", "levels": ["car", "radio", "house"]},
            "phone": {"kind": "nominal", "levels": ["false", "true"]},
            "duration": {"kind": "numeric", "edges": [24], "values": [12, 36], "min": 4, "max": 72, "step": 1},
        },
        "given": ["credit amount", "stage", "housing"],
        "goal": {"favourable": "1"},
        "actions": {"shorten": {"cost": 1, "change": {"duration": "-1"}}},
    }
)


def as_frame(frame: pd.DataFrame, _: Path) -> pd.DataFrame:
    return frame


def as_csv(frame: pd.DataFrame, folder: Path) -> str:
    texts = frame.assign(phone=frame["phone"].map({True: "true", False: "false"}))
    texts.to_csv(folder / "people.csv", index=False)
    return str(folder / "people.csv")


def as_swapped_csv(frame: pd.DataFrame, folder: Path) -> str:
    return as_csv(frame[frame.columns[::-1]].assign(customer=range(len(frame))), folder)


def as_parquet(frame: pd.DataFrame, folder: Path) -> str:
    frame.to_parquet(folder / "people.parquet")
    return str(folder / "people.parquet")


@pytest.mark.parametrize("road", [as_frame, as_csv, as_swapped_csv, as_parquet])
@pytest.mark.parametrize("name", ["one-hot LightGBM", "LightGBM", "XGBoost", "CatBoost", "native gradients"])
def test_the_rejected_are_those_whom_the_model_rejects(
    name: str, road: Callable[[pd.DataFrame, Path], pd.DataFrame | str], tmp_path: Path
) -> None:
    frame = applications(120, seed=7)
    frame = MODELS[name][0](frame) if name == "CatBoost" else frame
    rejected = ~pd.Series(ask_directly(name, frame), index=frame.index)
    table = audit(PROBLEM, trained(name), road(frame, tmp_path), groups="purpose").to_frame()
    assert table["rejected"].to_dict() == rejected.groupby(frame["purpose"].astype(str)).sum().to_dict()


def test_a_bad_row_has_its_own_mistake_alone(tmp_path: Path) -> None:
    """Not that the columns were missing that are given as they are."""
    frame = applications(20, seed=7).assign(purpose="boat")
    with pytest.raises(PersonError) as refused:
        audit(PROBLEM, trained("LightGBM"), as_csv(frame, tmp_path), groups="purpose")
    assert [item.code for item in refused.value.mistakes] == ["unknown_level", "bad_rows"]
