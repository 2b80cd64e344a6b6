"""Texts for people, by language: one catalogue per language, with numbers as that language writes them.

A language is one file beside this one (`en.yaml`). `load_texts("de")("report.decision.no", goal="approved")`.
"""

from __future__ import annotations

from safear.texts.catalogue import Texts, languages, load_texts

__all__ = ["Texts", "languages", "load_texts"]
