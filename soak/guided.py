"""Fuzzing that looks at which code an input reaches: `python -m soak.guided [SECONDS]`, if atheris is installed.

Texts of conditions, objectives, problems, terms and plans, changed by atheris so that they reach further into the
readers. The rule is that of `soak.judging`. It ends at the first input that breaks it, and keeps that in a file.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from soak.judging import judge

SECONDS = 60.0


def main() -> None:
    """Fuzz for so many seconds."""
    try:
        import atheris  # noqa: PLC0415  # an optional tool
    except ImportError:
        sys.exit("atheris is not installed; install it with: pip install --group soak")
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    with atheris.instrument_imports(include=["safear"]):
        from soak import document_readers  # noqa: PLC0415  # what is imported here is watched
        from soak.seeds import RANKED, SMALL, TERMS, TINY, plan_texts  # noqa: PLC0415  # as above
    readers: list[Callable[[Any], None]] = [
        target.read
        for target in document_readers.list_targets()
        if target.name in {"condition", "objective", "problem: YAML", "terms: YAML", "plan: text"}
    ]

    def try_one(data: bytes) -> None:
        if len(data) > 1:
            text = data[1:].decode("utf-8", "replace")
            verdict = judge(lambda: readers[data[0] % len(readers)](text))
            if not verdict.is_fine:
                raise RuntimeError(verdict.told)

    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        texts = (SMALL, TINY, "skill == expert and not (age < 30 or gender in [male])", "cvar:0.95", TERMS, RANKED)
        for number, text in enumerate((*texts, *plan_texts())):
            for first in range(len(readers)):
                (Path(folder) / f"{number}-{first}").write_bytes(bytes([first]) + text.encode())
        options = [f"-max_total_time={seconds:g}", "-max_len=20000", "-artifact_prefix=soak-guided-", "-timeout=60"]
        atheris.Setup([sys.argv[0], *options, folder], try_one, internal_libfuzzer=True)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
