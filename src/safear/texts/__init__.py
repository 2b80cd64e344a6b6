"""Texts for people, by language: one catalogue per language, with numbers as that language writes them.

A language is one file beside this one (`en.yaml`). `load_texts("de")("report.decision.no", goal="approved")`.
"""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
