"""No text of the catalogue that pages about audits have is left over."""

from __future__ import annotations

from pathlib import Path

import pytest

import safear as sa
from audit_examples import audit_of, make_audit, make_people
from promises.reports.test_audit_page import pages_in_german
from safear.reports import report_audit
from safear.texts import Texts, load_texts


def test_no_text_is_left_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every text of the page is on one of the pages."""
    seen: set[str] = set()
    real = Texts.__call__

    def record(self: Texts, key: str, /, **values: object) -> str:
        seen.add(key)
        return real(self, key, **values)

    monkeypatch.setattr(Texts, "__call__", record)
    pages_in_german.cache_clear()
    pages_in_german()
    report_audit(sa.audit(make_audit().problem, None, make_people(), groups=["gender"], method="optimal"))
    spoiled = make_people()[:600].replace({"x": {"mid": "middle"}})
    report_audit(audit_of(spoiled, groups=["gender"], skip_bad=tmp_path / "bad"))
    tested = ("audit.conclusion.", "audit.helpless.", "audit.gives_up.")  # sentence by sentence, in test_findings
    texts = [key for key in load_texts("en").entries if key.startswith("audit.") and not key.startswith(tested)]
    assert set(texts) - seen == set()
