"""Which languages there are: those that have a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import safear
from doors import read_language
from safear.texts import languages


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
