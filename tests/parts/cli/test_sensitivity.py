"""The JSON of `safear sensitivity` is the whole record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from doors import SensitivityRecord
from promises.cli.test_sensitivity import CALL, expected

if TYPE_CHECKING:
    from promises.cli.conftest import Safear


def test_the_json_is_the_record(safear: Safear) -> None:
    assert safear(*CALL, "--json").json == json.loads(SensitivityRecord.of(expected()).model_dump_json())
