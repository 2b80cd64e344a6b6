"""The JSON of `safear sensitivity` is the whole record."""

from __future__ import annotations

import json

from doors import SensitivityRecord
from promises.cli.conftest import Safear
from promises.cli.test_sensitivity import CALL, expected


def test_the_json_is_the_record(safear: Safear) -> None:
    assert safear(*CALL, "--json").json == json.loads(SensitivityRecord.of(expected()).model_dump_json())
