"""Plans of a batch are read only if they are what the batch has written."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import safear as sa
from crowds import JOB, job_people
from doors import open_plan
from safear.errors import PlanError
from safear.files import SUMS
from safear.plans import open_plans


def decide(frame: pd.DataFrame) -> object:
    return frame["skill"] == "expert"


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """A batch of four parts with its plans."""
    job_people(12, seed=1).to_csv(tmp_path / "people.csv", index=False)
    options = {"objective": sa.Mean(), "plans": True, "part_size": 3, "threads": 1}
    sa.batch(sa.parse_problem(JOB), decide, tmp_path / "people.csv", out=tmp_path / "out", **options)  # type: ignore[arg-type]
    return tmp_path / "out"


def refusal(*sources: Path) -> str:
    with pytest.raises(PlanError) as caught:
        list(open_plans(sources))
    assert caught.value.mistakes[0].code == "damaged"
    return str(caught.value)


def test_a_part_that_is_damaged_or_foreign(answers: Path) -> None:
    part = answers / "part-00001.parquet"
    whole = part.read_bytes()
    names = [name for name, _ in open_plans([answers])]
    assert len({name.rpartition(":")[0] for name in names}) == 4
    again = "run the same batch again, which solves the part again"
    for content in (whole[:-5], b"", (answers / "part-00002.parquet").read_bytes()):
        part.write_bytes(content)
        told = f"{part}: is damaged: it is not what the batch has written\n    {again}"
        assert refusal(answers) == refusal(part) == told
        with pytest.raises(PlanError, match="is damaged"):
            open_plan(f"{part}:1")
    part.write_bytes(whole)
    (answers / "part-00009.parquet").write_bytes(whole)
    told = (
        f"{answers / 'part-00009.parquet'}: is no part of the batch in its folder\n    keep it in a folder of its own"
    )
    assert refusal(answers) == told
    (answers / "part-00009.parquet").unlink()
    assert [name for name, _ in open_plans([answers])] == names


def test_a_part_in_a_folder_of_its_own(answers: Path, tmp_path: Path) -> None:
    """Without the list of its folder there is nothing to compare it with; each plan has a checksum of its own."""
    (tmp_path / "one").mkdir()
    (answers / "part-00000.parquet").rename(tmp_path / "one" / "mine.parquet")
    assert not (tmp_path / "one" / SUMS).exists()
    assert list(open_plans([tmp_path / "one"]))
    assert list(open_plans([answers]))  # a batch that is not finished yet
